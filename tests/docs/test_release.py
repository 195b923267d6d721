"""What belongs to a release says the same thing: versions, dates, requirements, the page of benchmarks."""

import re
import runpy
import tomllib

import blankets
from docs.pages import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere():
    version = re.escape(blankets.__version__)
    assert re.search(rf"^Version: {version}$", text_of("r/DESCRIPTION"), flags=re.MULTILINE)
    assert f'version = "{blankets.__version__}"' in text_of("conda/meta.yaml")
    heading = re.search(r"^## (.*)$", text_of("CHANGELOG.md"), flags=re.MULTILINE)[1]
    date = re.fullmatch(rf"{version} \((\d{{4}}-\d\d-\d\d)\)", heading)[1]
    assert f"date-released: {date}\n" in text_of("CITATION.cff")


def test_conda_needs_what_pip_needs():
    recipe = re.search(r"^  run:\n((?:    - .*\n)+)", text_of("conda/meta.yaml"), flags=re.MULTILINE)[1]
    run = {line.replace("    - ", "").replace(" ", "") for line in recipe.splitlines()}
    assert run == {*PROJECT["dependencies"], f"python{PROJECT['requires-python']}"}
    build = tomllib.loads(text_of("pyproject.toml"))["build-system"]["requires"]
    assert all(f"    - {line.replace('>=', ' >=')}\n" in text_of("conda/meta.yaml") for line in build)


def test_the_paper_cites_what_its_bibliography_has():
    cited = set(re.findall(r"@(\w+)", text_of("paper/paper.md")))
    assert cited == set(re.findall(r"^@\w+\{(\w+),$", text_of("paper/paper.bib"), flags=re.MULTILINE))
    assert 250 <= len(text_of("paper/paper.md").split("---", 2)[2].split()) <= 1000  # as the journal asks


def test_the_page_of_benchmarks_is_as_its_script_writes_it():
    script = runpy.run_path(str(ROOT / "benchmarks" / "page.py"))
    page = text_of("docs/benchmarks.md")
    blocks = script["blocks"](page)
    assert {"startup", "speed"} <= set(blocks)
    assert script["written"](blocks) == page
    machine = re.compile(r"\(20\d\d-\d\d-\d\d\)\n.*\nPython 3\.\d+\.\d+, \w+ \w+, \d+ cores")
    assert [name for name, block in blocks.items() if not machine.search(block)] == []
