"""``python tests/browser/shots.py OUT [SITE]`` takes pictures of pages at 1280 and 400 pixels, in light and in dark.

Pages are the report of the clinic, a report with checks and gaps, the planner and, with SITE (a folder that
sphinx-build has written), the main pages of the site. It prints which pages are wider than the screen, and which texts
are too pale. Needs what browser tests need. Look at the pictures: no program sees what is ugly.
"""

import re
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import blankets as bl
from blankets.report import planner

ROOT = Path(__file__).parents[2]
SITE = ("index", "tutorial", "howto/index", "howto/faq", "howto/from-question-to-call", "howto/read-report", "glossary")
SITE += ("examples/clinical-table", "gallery/index", "explanation/methods", "reference", "benchmarks")


def written(folder):
    """Write the pages of the package itself; return where they are."""
    table = Path(shutil.copy(ROOT / "examples" / "clinic.csv", folder))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bl.discover(table, "readmitted", roles=True).report(folder / "report.html", source="clinic.csv")
        some = folder / "some.csv"
        some.write_text(re.sub(r",no$", ",", table.read_text(), flags=re.M))
        bl.discover(some, "readmitted", labels="pu", prior=0.4).report(folder / "pu.html")
    planner(folder / "planner.html")
    return [folder / "report.html", folder / "pu.html", folder / "planner.html"]


def main(out, site=None):
    """Take the pictures; print what is wider than the screen, or pale."""
    from looks import PALE_TEXTS, WIDER_THAN_SCREEN  # pytest imports this file to look for examples, from elsewhere
    from playwright.sync_api import sync_playwright

    Path(out).mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        pages = written(Path(folder)) + [Path(site).resolve() / f"{name}.html" for name in SITE if site]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for page in pages:
            for width in (1280, 400):
                for scheme in ("light", "dark"):
                    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                    tab = context.new_page()
                    tab.goto(page.as_uri())
                    name = f"{page.parent.name if page.stem == 'index' else page.stem}-{width}-{scheme}.png"
                    tab.screenshot(path=Path(out) / name, full_page=True)
                    wider, pale = tab.evaluate(WIDER_THAN_SCREEN), tab.evaluate(PALE_TEXTS)["pale"]
                    sys.stdout.write(
                        f"{name}: {wider} pixels wider than the screen, {len(pale)} pale texts {pale[:2]}\n"
                    )
                    context.close()
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
