"""Style and types, and that the project's own files say the same thing."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import blankets

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy"])
def test_tools_have_nothing_to_say(command):
    done = subprocess.run([sys.executable, "-m", *command.split()], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ci_runs_the_command_of_the_readme():
    command = "pip install -e '.[test]' && pytest"
    assert f"\n{command}\n" in README
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text()
    assert f"\n{command}\n" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_table_of_the_readme_lists_the_algorithms():
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \| (\w+) \| (\w+) \|", README, flags=re.MULTILINE)
    words = {True: "yes", False: "no"}
    expected = [(a.name, a.finds, words[a.sound], words[a.roles]) for a in blankets.algorithms()]
    assert rows == expected


def test_the_python_of_the_readme_runs(monkeypatch, tmp_path):
    code = re.search(r"```python\n(.*?)```", README, flags=re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names = {}
    exec(code, names)
    assert "insurance" in names["blanket"].members
    assert "age" not in names["blanket"].members
    assert Path("result.json").exists()
    assert names["network"].has_edge("readmitted", "heart_failure")


def test_versions_agree():
    assert f"version: {blankets.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
