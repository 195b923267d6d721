"""Prints the oldest versions that pyproject.toml allows, as constraints for pip: every "name>=1.2" as "name==1.2"."""

import re
import sys
import tomllib
from pathlib import Path

# The first that were built for a Python that is younger than the oldest version.
FOR_3_13 = {"numpy": "2.1.0", "scipy": "1.14.1", "pandas": "2.2.3", "matplotlib": "3.9.2", "statsmodels": "0.14.4"}
TOOLS = ("mypy", "ruff")  # they read the code, and do not run it

project = tomllib.loads(Path(__file__).parents[1].joinpath("pyproject.toml").read_text("utf-8"))["project"]
extras = {
    name: lines for name, lines in project["optional-dependencies"].items() if name not in ("docs", "browser-test")
}
for line in {line: None for lines in (project["dependencies"], *extras.values()) for line in lines}:
    found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", line)
    if found and found[1] not in TOOLS:
        younger = FOR_3_13.get(found[1]) if sys.version_info >= (3, 13) else None
        print(f"{found[1]}=={younger or found[2]}")
