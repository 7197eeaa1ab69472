"""Causal discovery with latent variables and selection bias.

``lmarvel`` learns a PAG, the graph of every causal mark that the data can support when some causes were not
measured and the sample may have been selected.
"""

import importlib
import typing

from lmarvel.version import __version__ as __version__

if typing.TYPE_CHECKING:
    from lmarvel.public import *  # noqa: F403  # all that it has is public
else:
    # The command line has things to set before NumPy is loaded (lmarvel.budget.starting), and this is run before it.
    def __getattr__(name: str) -> object:
        if not name.startswith("__") or name == "__all__":
            public, known = importlib.import_module("lmarvel.public"), globals()
            known.update({each: getattr(public, each) for each in ("__all__", *public.__all__)})
            if name in known:
                return known[name]
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__getattr__("__all__")})
