"""A headless Chromium, and pages that tell what went wrong in them."""

import shutil
import warnings

import pytest

import blankets as bl
from blankets.errors import BlanketsWarning
from blankets.report import planner, report
from hostile import TARGET, hostile_table


def pytest_collection_modifyitems(items):
    for item in items:
        if "tests/browser/" in item.path.as_posix():
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    # A browser of the system is as good as one that playwright has brought along.
    ours = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=ours)
        yield running
        running.close()


@pytest.fixture
def visit(browser):
    """Return a function that opens a file; at the end, nothing must have gone wrong and nothing been fetched."""
    contexts, trouble = [], []

    def open_page(path, *, width=1280, height=900, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: trouble.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (trouble.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda r: None if r.url == path.as_uri() else trouble.append(f"request: {r.url}"))
        page.goto(path.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.fixture(scope="session")
def hostile_report(tmp_path_factory):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        blanket = bl.discover(hostile_table(), TARGET, alpha=0.05)
    path = tmp_path_factory.mktemp("pages") / "<i>report.html"
    shares = {name: 0.9 - 0.1 * i for i, name in enumerate(blanket.members)}
    runs = [(0.1 * i, blanket.members[i:]) for i in range(1, 5)]
    return report(blanket, path, source="<u>.csv", stability=shares, sensitivity=runs)


@pytest.fixture(scope="session")
def planner_page(tmp_path_factory):
    return planner(tmp_path_factory.mktemp("pages") / "planner.html")
