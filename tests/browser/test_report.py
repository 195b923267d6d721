"""The report in a real browser."""

import pytest

from blankets.results import shown
from browser.looks import PALE_TEXTS, WIDER_THAN_SCREEN
from hostile import NAMES, TARGET


def open_everything(page):
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 800, 1010, 1280])
def test_it_fits_and_can_be_read(visit, hostile_report, width, scheme):
    page = visit(hostile_report, width=width, scheme=scheme)
    open_everything(page)
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    found = page.evaluate(PALE_TEXTS)
    assert found["seen"] > 200
    assert found["pale"] == []
    assert page.locator("svg.graph:visible").count() == 1


def test_names_stay_text(visit, hostile_report):
    page = visit(hostile_report)
    assert page.title() == f"Markov blanket of {TARGET}"
    assert page.locator("h1").inner_text() == f"Markov blanket of {TARGET}"
    assert page.locator("img, iframe, u, i, b:not([data-word])").count() == 0
    for name in NAMES[:4]:
        page.fill("#find", name)
        assert page.locator("#columns .name").first.inner_text() == shown(name, 200)


def test_search_filters_and_pages(visit, hostile_report):
    page = visit(hostile_report)
    rows = page.locator("#columns > li")
    assert rows.count() == 50
    assert page.locator("#count").inner_text() == "50 of 199 columns"
    page.click("#more")
    assert rows.count() == 100
    page.fill("#find", "GENE_01")
    assert page.locator("#count").inner_text() == "10 columns"
    assert page.locator("#more").is_hidden()
    page.fill("#find", "gene_017")
    assert rows.count() == 1
    assert "Passed over" in page.locator("#columns li ul").inner_text()  # a single hit is opened
    page.fill("#find", "")
    page.select_option("#which", "excluded")
    assert set(page.locator("#columns .name").all_inner_texts()) == {"const<i>", "copy<i>"}
    page.fill("#find", "no such column")
    assert page.locator("#count").inner_text() == "No column has such a name."


def test_graph_tells_the_decisive_test(visit, hostile_report):
    page = visit(hostile_report)
    card = page.locator("#card")
    boxes = page.locator("svg.graph.wide .box")
    last = boxes.count() - 1
    boxes.nth(last).hover()
    name = page.locator("#card h3").inner_text()
    assert name.startswith(boxes.nth(last).locator("text").text_content().rstrip("…"))
    assert "degree" in card.inner_text()
    assert page.locator("svg.graph.wide .line.lit").count() >= 1
    page.mouse.move(0, 0)
    assert page.locator("svg.graph.wide .line.lit").count() == 0
    boxes.first.hover()
    assert "the target" in card.inner_text()


def test_keyboard_reaches_everything(visit, hostile_report):
    page = visit(hostile_report)
    wanted = {"summary", "box", "find", "which", "more"}
    seen = set()
    names = []
    for _ in range(200):
        page.keyboard.press("Tab")
        at = page.evaluate(
            "({tag: document.activeElement.tagName.toLowerCase(), id: document.activeElement.id,"
            " box: document.activeElement.dataset.box ?? null})"
        )
        seen |= {at["tag"], at["id"], "box" if at["box"] else ""}
        if at["box"]:
            names.append(page.locator("#card h3").inner_text())
        if at["id"] == "more":
            break
    assert wanted <= seen
    assert len(set(names)) == page.locator("svg.graph.wide .box").count()


def test_trail_opens_by_keyboard(visit, hostile_report):
    page = visit(hostile_report)
    page.locator("#columns summary").first.focus()
    page.keyboard.press("Enter")
    page.locator("#columns li").first.locator("ul li").first.wait_for()


def test_print_is_on_white_unfolded_and_without_controls(visit, hostile_report):
    page = visit(hostile_report, width=680, scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator("svg.graph.wide").is_visible()
    assert page.locator("svg.graph.tall").is_hidden()
    for hidden in (".controls", "#planner-section", "#more", "#card"):
        assert page.locator(hidden).is_hidden()
    assert page.locator("#method details[open]").count() == 2
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(PALE_TEXTS)["pale"] == []
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.locator("#method details[open]").count() == 0


def test_planner_inside_the_report_works(visit, hostile_report):
    page = visit(hostile_report)
    page.click("#planner-section summary")
    before = page.locator("#plan-answer").inner_text()
    page.fill("#plan-power", "0.99")
    assert page.locator("#plan-answer").inner_text() != before
    assert page.locator("#plan-alpha").input_value() == "0.05"


def test_figures_have_words(visit, hostile_report):
    page = visit(hostile_report)
    silent = page.evaluate(
        "[...document.querySelectorAll('svg')].filter((s) => !s.hasAttribute('aria-hidden')"
        " && !(s.getAttribute('aria-label') || '').length).length"
    )
    assert silent == 0
