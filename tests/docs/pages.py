"""The code blocks of a page: run them in the order of reading, and compare what they print with what the page shows.

``python tests/docs/pages.py`` writes what they print into the pages.
"""

import contextlib
import io
import os
import re
import shlex
import sys
import tempfile
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md", ROOT / "examples" / "README.md"]
PAGES = [page for page in PAGES if "_build" not in page.parts and "gallery" not in page.parts]

BLOCK = re.compile(r"^(```+|:::+)([^\n]*)\n(.*?)^\1[ \t]*$", re.MULTILINE | re.DOTALL)
TIMES = re.compile(r"\b\d[\d.,]* (ms|s|min)\b")


class Block(NamedTuple):
    """A fenced block: its language, its text, and where the text begins and the fence ends in the page."""

    language: str
    text: str
    start: int
    end: int


def blocks_of(text):
    return [Block(m[2].strip(), m[3], m.start(3), m.end()) for m in BLOCK.finditer(text)]


def runnable(block):
    return block.language in ("python", "console")


def printed(block, namespace):
    """Run a block and return what it prints."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        if block.language == "python":
            exec(compile(block.text, "a page of the documentation", "exec"), namespace)
        else:
            _run_commands(block.text)
    return said.getvalue()


def _run_commands(text):
    from blankets.cli._main import run

    for line in text.splitlines():
        prompt, program, *words = shlex.split(line)
        if (prompt, program) != ("$", "blankets"):
            raise ValueError(f"only commands such as '$ blankets ...' can be run, not {line!r}")
        if run(words) != 0:
            raise RuntimeError(f"{line!r} failed")


@contextlib.contextmanager
def a_desk():
    """A folder for temporary files in which ``examples`` is at hand."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "examples").symlink_to(ROOT / "examples")
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def without_times(text):
    """Return a text in which nothing depends on the machine."""
    return "\n".join(line.rstrip() for line in TIMES.sub("a while", text).strip().splitlines())


def results(page):
    """Yield each block that can be run with what it prints, and the block of output that follows it, if any."""
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    namespace = {"__name__": "__main__"}
    with a_desk():
        for block, after in zip_longest(blocks, blocks[1:]):
            if runnable(block):
                yield block, printed(block, namespace), after if after and after.language == "output" else None


def write(page):
    """Put what the blocks of a page print behind them."""
    text = page.read_text(encoding="utf-8")
    for block, said, shown in reversed(list(results(page))):
        if not said.strip() or page.name == "README.md":
            continue
        lines = "\n".join(line.rstrip() for line in said.rstrip().splitlines())
        if shown is None:
            text = f"{text[: block.end]}\n\n```output\n{lines}\n```{text[block.end :]}"
        elif without_times(shown.text) != without_times(said):
            text = f"{text[: shown.start]}{lines}\n{text[shown.start + len(shown.text) :]}"
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for one in map(Path, sys.argv[1:] or map(str, PAGES)):
        write(one.absolute())
