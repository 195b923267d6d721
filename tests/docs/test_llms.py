"""The documentation as text for programs (`docs/llms.py`): nothing is left out, and every link leads to a page."""

import re
import runpy

import blankets
from docs.pages import ROOT

LLMS = runpy.run_path(str(ROOT / "docs" / "llms.py"))
INDEX, FULL = LLMS["index"](), LLMS["full"]()
PAGES = [
    path.relative_to(ROOT / "docs").with_suffix("").as_posix()
    for path in (ROOT / "docs").rglob("*.md")
    if path.stem != "index" and not {"_build", "gallery", "generated"} & set(path.parts)
]


def test_every_page_is_in_the_index_once():
    links = re.findall(r"^- \[[^]]+\]\(([^)]+)\): \S", INDEX, flags=re.MULTILINE)
    assert sorted(links) == sorted([*(f"{page}.html" for page in PAGES), "llms-full.txt"])


def test_every_public_name_has_a_sentence():
    found = dict(re.findall(r"^- `blankets\.(\w+)`: (.*)$", INDEX, flags=re.MULTILINE))
    assert list(found) == blankets.__all__
    assert [name for name, sentence in found.items() if not sentence.endswith(".")] == []


def test_the_whole_text_holds_every_page_and_docstring():
    for page in set(PAGES) - {"reproduction"}:
        assert (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").strip() in FULL
    assert "## blankets.discover(data: Any, target: str | int | None = None, *" in FULL
    assert "Find the Markov blanket of a target" in FULL


def test_both_are_written(tmp_path):
    LLMS["write"](tmp_path)
    assert (tmp_path / "llms.txt").read_text(encoding="utf-8") == INDEX
    assert (tmp_path / "llms-full.txt").read_text(encoding="utf-8") == FULL
    front = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert re.findall(r'href="([^"]+)"', front) == ["llms.txt", "llms-full.txt"]
