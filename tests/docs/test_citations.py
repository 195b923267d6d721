"""What comments and docstrings cite is in the documentation: sections, equations and errata."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from docs.pages import ROOT

METHODS = (ROOT / "docs" / "explanation" / "methods.md").read_text(encoding="utf-8")
ERRATA = (ROOT / "docs" / "explanation" / "errata.md").read_text(encoding="utf-8")
SECTIONS = set(re.findall(r"^#{2,3} (\d+(?:\.\d+)?)\.? ", METHODS, flags=re.MULTILINE))
EQUATIONS = re.findall(r"\\tag\{(\d+\.\d+)\}", METHODS)
ENTRIES = re.findall(r"^### ([A-H]\d+)\. ", ERRATA, flags=re.MULTILINE)

LABELS = r"[A-H]\d+(?:(?:, | and | to )[A-H]\d+)*"
CITED = {
    "section": re.compile(r"\bmethods, sections? (\d+(?:\.\d+)?)", re.IGNORECASE),
    "equation": re.compile(r"\bmethods \((\d+\.\d+)\)", re.IGNORECASE),
    "entry": re.compile(rf"\berrata ({LABELS})", re.IGNORECASE),
}
# Documents that are not here, by the names and letters they once had; equations without the page they stand on.
NOWHERE = re.compile(
    r"\bERRATA\b|\bMETHODS(?:-2)?(?:\.md)? \d|\[(?:S|P|T|PU|L|E)\](?! *[|,=\]])|(?<![\w)])\([1-9]\.\d\d?\)"
)


def words_of(path: Path) -> str:
    """Return the comments and docstrings of a file, lines joined as they are read."""
    source = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = [token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT]
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found += [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, kinds)]
    return re.sub(r"\s+", " ", " ".join(found))


def citations_of(text: str) -> dict[str, set[str]]:
    """Return what a text cites, by kind."""
    cited = {kind: set(pattern.findall(text)) for kind, pattern in CITED.items()}
    cited["entry"] = {label for several in cited["entry"] for label in re.findall(r"[A-H]\d+", several)}
    return cited


FILES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])
CITING = {path: citations_of(words_of(path)) for path in FILES if path != Path(__file__)}


def test_labels_are_unique_and_some_are_cited():
    assert len(set(EQUATIONS)) == len(EQUATIONS) > 30
    assert len(set(ENTRIES)) == len(ENTRIES) > 60
    everything = {label for cited in CITING.values() for some in cited.values() for label in some}
    assert {"B4", "F9", "3.7", "1"} <= everything


@pytest.mark.parametrize("kind", CITED)
def test_what_is_cited_exists(kind):
    there = {"section": SECTIONS, "equation": set(EQUATIONS), "entry": set(ENTRIES)}[kind]
    missing = {str(path.relative_to(ROOT)): cited[kind] - there for path, cited in CITING.items()}
    assert {name: labels for name, labels in missing.items() if labels} == {}


def test_equations_and_entries_that_the_pages_cite_exist():
    own = set(re.findall(r"(?<![\w)\d])\(([1-9]\.\d\d?)\)", METHODS))
    assert own <= set(EQUATIONS)
    for page in (METHODS, ERRATA):
        cited = citations_of(page)
        assert cited["section"] <= SECTIONS
        assert cited["equation"] <= set(EQUATIONS)
        assert cited["entry"] <= set(ENTRIES)


def test_nothing_cites_what_is_not_here():
    own = re.compile(r"\bmethods \(\d+\.\d+\)(?:(?:,| and) \(\d+\.\d+\))*", re.IGNORECASE)
    source = [path for path in CITING if (ROOT / "src") in path.parents]
    found = {str(path.relative_to(ROOT)): NOWHERE.findall(own.sub("", words_of(path))) for path in source}
    assert {name: words for name, words in found.items() if words} == {}


def test_the_reader_of_citations_is_not_blind(tmp_path):
    file = tmp_path / "bad.py"
    file.write_text('"""By [T] (5.8), see methods (9.9) and errata\nB4 and F99."""\nx = 1  # METHODS 4, ERRATA B4\n')
    text = words_of(file)
    assert sorted(NOWHERE.findall(text)) == ["(5.8)", "(9.9)", "ERRATA", "METHODS 4", "[T]"]
    assert citations_of(text) == {"section": set(), "equation": {"9.9"}, "entry": {"B4", "F99"}}
