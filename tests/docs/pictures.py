"""``python tests/docs/pictures.py`` takes the pictures of pages in docs/images anew; needs what browser tests need.

Run it after `blankets` prints something else about the clinic's file: the front page shows the report beside its text.
"""

import shutil
import tempfile
from pathlib import Path

import blankets as bl
from blankets.report import planner

ROOT = Path(__file__).parents[2]
PICTURES = {
    "report": ("report", 1080, 1550),
    "report-narrow": ("report", 380, 1000),
    "planner": ("planner", 1080, 880),
}


def main():
    """Write the pages, and their pictures."""
    from playwright.sync_api import sync_playwright  # pytest looks for examples in this file, and may not have it

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        table = Path(shutil.copy(ROOT / "examples" / "clinic.csv", folder))
        bl.discover(table, "readmitted", roles=True).report(f"{folder}/report.html", source="clinic.csv")
        planner(f"{folder}/planner.html")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (page, width, height) in PICTURES.items():
            context = browser.new_context(viewport={"width": width, "height": height})
            tab = context.new_page()
            tab.goto(f"file://{folder}/{page}.html")
            tab.screenshot(path=ROOT / "docs" / "images" / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
