"""``python -m blankets`` is the command line."""

from blankets.cli import main

if __name__ == "__main__":
    main()
