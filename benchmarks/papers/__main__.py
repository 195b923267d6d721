import sys

from benchmarks.papers._runner import main

if __name__ == "__main__":
    sys.exit(main())
