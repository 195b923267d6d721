"""Every Python block of the documentation runs, page by page, in the order of reading."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
WITH_CODE = [page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8"))]


def test_there_is_something_to_run():
    assert len(WITH_CODE) >= 6


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_code_blocks_run(page, monkeypatch, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "__main__"}
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT / "docs")))
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+\.md)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples" / "gallery").glob("plot_*.py")), ids=lambda path: path.stem
)
def test_gallery_examples_run(example, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(example.parent)
    exec(compile(example.read_text(encoding="utf-8"), str(example), "exec"), {"__name__": "__main__"})
