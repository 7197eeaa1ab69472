"""On how many examples a property is tried: so many in ``make test``, five times as many in ``make check-all``."""

from __future__ import annotations

from hypothesis import settings

USUAL = 25  # the examples of the profile that make test takes


def examples(number: int) -> settings:
    """Return settings for so many examples, times what the profile asks for beside the usual one."""
    return settings(max_examples=number * settings.default.max_examples // USUAL, deadline=None)  # type: ignore[union-attr]
