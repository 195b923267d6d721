"""Install the other tools into an environment of their own: nothing of theirs touches yours.

    python benchmarks/peers_install.py

Each is optional: one that does not install here is named and left out. About 900 MB on disk.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import venv
from pathlib import Path

ENVIRONMENT = Path(__file__).resolve().parent / "results" / "peers"
PACKAGES = ("pgmpy", "causal-learn", "pyCausalFS", "pyagrum", "scikit-learn", "mrmr-selection")


def python_of(environment: Path) -> Path:
    """Return the interpreter of a virtual environment."""
    return environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--env", type=Path, default=ENVIRONMENT, help=f"where to (default {ENVIRONMENT.name})")
    options = parser.parse_args()
    if not python_of(options.env).exists():
        venv.create(options.env, with_pip=True)
    failed = []
    for package in PACKAGES:
        command = [str(python_of(options.env)), "-m", "pip", "install", "--quiet", package]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        print(f"{package}: {'installed' if not done.returncode else 'not installed'}", flush=True)
        if done.returncode:
            failed.append(package)
            print(done.stderr.strip().splitlines()[-1])
    return int(len(failed) == len(PACKAGES))


if __name__ == "__main__":
    sys.exit(main())
