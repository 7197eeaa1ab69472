"""The version of the package, as ``meson.build`` has it too."""

__version__ = "0.1.0"
