"""The command line, for where the command ``lmarvel`` is not on the path: ``python -m lmarvel``."""

from lmarvel.cli import main

if __name__ == "__main__":
    main()
