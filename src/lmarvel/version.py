"""The version of the package: it stands here, and the build reads it from here."""

__version__ = "0.1.0"
