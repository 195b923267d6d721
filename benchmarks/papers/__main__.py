import sys

from benchmarks.papers._harness import main

if __name__ == "__main__":
    sys.exit(main())
