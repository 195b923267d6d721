"""Every code block of the documentation runs, page by page, and prints what the page shows."""

import re

import pytest

from docs.pages import PAGES, ROOT, blocks_of, results, runnable, without_times

NOT_CODE = {"output", "text", "mermaid", "bibtex"}


def name_of(page):
    return str(page.relative_to(ROOT))


WITH_CODE = [page for page in PAGES if any(map(runnable, blocks_of(page.read_text(encoding="utf-8"))))]


def test_there_is_something_to_run():
    assert len(WITH_CODE) >= 15


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_blocks_print_what_the_page_shows(page):
    for block, said, shown in results(page):
        if page.name == "README.md":
            continue  # its blocks are run; what they print would be too long for a first look
        assert without_times(shown.text if shown else "") == without_times(said), block.text


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_code_hides_from_being_run(page):
    languages = {block.language for block in blocks_of(page.read_text(encoding="utf-8")) if not runnable(block)}
    assert {language for language in languages if not language.startswith("{")} <= NOT_CODE


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+\.(?:md|png|svg|cff))", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize(
    "example", sorted((ROOT / "examples" / "gallery").glob("plot_*.py")), ids=lambda path: path.stem
)
def test_gallery_examples_run(example, monkeypatch):
    import matplotlib

    matplotlib.use("agg")
    monkeypatch.chdir(example.parent)
    exec(compile(example.read_text(encoding="utf-8"), str(example), "exec"), {"__name__": "__main__"})
