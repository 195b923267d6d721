"""Links between pages lead to a page, and to a heading of it, that is there."""

import re

import pytest

from docs.pages import BLOCK, PAGES, ROOT

TARGETS = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "src").rglob("README.md"))]
LINK = re.compile(r"\]\(((?:[\w.-]+/)*[\w.-]+\.md)?(?:#([\w-]+))?\)")


def anchors_of(page):
    """Headings as GitHub and the site name them, and labels."""
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.*?) *$", text, flags=re.MULTILINE)
    plain = [re.sub(r"\]\([^)]*\)", "", heading).lower() for heading in headings]
    return {re.sub(r"[^\w\- ]", "", heading).replace(" ", "-") for heading in plain} | set(
        re.findall(r"^\(([\w-]+)\)=$", text, flags=re.MULTILINE)
    )


@pytest.mark.parametrize("page", TARGETS, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(BLOCK.sub("", page.read_text(encoding="utf-8"))):
        target = (page.parent / path).resolve() if path else page
        assert target.is_file(), path
        assert not anchor or anchor in anchors_of(target), f"{path}#{anchor}"


def test_a_heading_that_is_not_there_is_seen():
    assert "prediction" in anchors_of(ROOT / "docs" / "explanation" / "measured.md")
    assert "prediction" not in anchors_of(ROOT / "docs" / "explanation" / "algorithms.md")
    assert LINK.findall("[a](../b/c.md#d), [e](#f), [g](https://h.md)") == [("../b/c.md", "d"), ("", "f")]
