"""Entry of `python -m pll`, see pll.cli."""

import sys

from pll.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
