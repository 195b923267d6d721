"""Writes `llms.txt` and `llms-full.txt` beside the pages of the site: the documentation for programs that read text.

`llms.txt` is an index (see llmstxt.org): each page and each public name with a sentence. `llms-full.txt` holds the
pages and docstrings themselves. `conf.py` calls `write` at every build, so both are those of the pages; by hand:

    python docs/llms.py FOLDER
"""

import inspect
import re
import sys
from pathlib import Path

import blankets

DOCS = Path(__file__).parent
SECTIONS = {
    "Begin": ("README", "tutorial", "howto/from-question-to-call", "howto/faq"),
    "How to": ("howto/*",),
    "Explanations": ("explanation/*", "glossary"),
    "Examples": ("examples/*",),
    "From other packages": ("coming-from/*",),
    "Evidence": ("benchmarks", "reproduction"),
}
TOO_LONG = ("reproduction",)  # tables of numbers: in the index only


def page_of(name: str) -> Path:
    """Return the file of a page; the README is that of the repository."""
    return (DOCS.parent if name == "README" else DOCS) / f"{name}.md"


def pages() -> dict[str, list[str]]:
    """Return the names of all pages by section, each once."""
    seen: set[str] = {"index", "howto/index", "explanation/index", "coming-from/index"}
    found: dict[str, list[str]] = {}
    for section, patterns in SECTIONS.items():
        for pattern in patterns:
            paths = sorted(DOCS.glob(f"{pattern}.md")) if "*" in pattern else [page_of(pattern)]
            for path in paths:
                name = path.stem if path.parent == DOCS.parent else path.relative_to(DOCS).with_suffix("").as_posix()
                if name not in seen and path.exists():
                    seen.add(name)
                    found.setdefault(section, []).append(name)
    return found


def title_and_sentence(name: str) -> tuple[str, str]:
    """Return the heading of a page, and the first sentence of its first paragraph of words."""
    text = re.sub(r"^(```+|:::+).*?^\1[ \t]*$", "", page_of(name).read_text("utf-8"), flags=re.M | re.S)
    title = re.search(r"^# (.+)$", text, flags=re.M)
    words = [part for part in re.split(r"\n\s*\n", text) if re.match(r"[*`]*\w", part)]
    first = " ".join(words[0].split()) if words else ""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", first)
    return title[1] if title else name, re.split(r"(?<=[.?!]) (?=[A-Z`*])", plain)[0]


def names() -> list[tuple[str, str, str]]:
    """Return each public name with its call, and its docstring."""
    found = []
    for name in blankets.__all__:
        thing = getattr(blankets, name)
        call = str(inspect.signature(thing)) if callable(thing) and not inspect.isclass(thing) else ""
        found.append((f"blankets.{name}", re.sub(r"'([^']*)'", r"\1", call), inspect.getdoc(thing) or ""))
    return found


def head() -> list[str]:
    """Return what both files begin with."""
    summary = (inspect.getdoc(blankets) or "").splitlines()[0]
    return [f"# blankets {blankets.__version__}", "", f"> {summary}", ""]


def index() -> str:
    """Return `llms.txt`."""
    lines = head()
    for section, members in pages().items():
        lines += [f"## {section}", ""]
        for name in members:
            title, sentence = title_and_sentence(name)
            where = "llms-full.txt" if name == "README" else f"{name}.html"
            lines.append(f"- [{title}]({where}): {sentence}")
        lines.append("")
    lines += ["## Names", "", *(f"- `{name}`: {doc.partition(chr(10))[0]}" for name, _, doc in names()), ""]
    return "\n".join(lines)


def full() -> str:
    """Return `llms-full.txt`."""
    parts = ["\n".join(head())]
    for members in pages().values():
        parts += [page_of(name).read_text("utf-8").strip() for name in members if name not in TOO_LONG]
    parts += [f"## {name}{call}\n\n{doc}" for name, call, doc in names()]
    return "\n\n---\n\n".join(parts) + "\n"


def write(folder: Path) -> None:
    """Write both."""
    (folder / "llms.txt").write_text(index(), "utf-8")
    (folder / "llms-full.txt").write_text(full(), "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
