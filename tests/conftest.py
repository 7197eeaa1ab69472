"""Settings for every test: Hypothesis draws the same examples in each run.

``make check-all`` draws more of them (the profile ``thorough``); ``pytest --hypothesis-profile=hunt`` draws new ones,
and many.
"""

from hypothesis import HealthCheck, Phase, settings

COMMON = {
    "deadline": None,
    "phases": (Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}

settings.register_profile("steady", max_examples=25, derandomize=True, database=None, **COMMON)
settings.register_profile("thorough", max_examples=120, derandomize=True, database=None, **COMMON)
settings.register_profile("hunt", max_examples=2000, print_blob=True, **COMMON)
settings.load_profile("steady")
