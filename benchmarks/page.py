"""Writes docs/benchmarks.md: what the speed benchmarks print on this machine, with the date and how busy it was.

    python benchmarks/page.py --networks DIR
    python benchmarks/page.py --only startup kernels

``--only`` runs these, and keeps what the page says of the others. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
HEAD = """\
# Benchmarks

Each block is what a script in `benchmarks/` printed: the command, the date, the machine in words, and how busy it was.
If the load average is well above zero, wall times are upper bounds: read CPU times. This page is written by
`python benchmarks/page.py`; how right the answers are is in [the papers, reproduced](reproduction.md) and in
[what the guarantees mean](explanation/guarantees.md).
"""


@dataclass(frozen=True)
class Section:
    name: str
    title: str
    words: str
    arguments: tuple[str, ...] = ()
    networks: bool = False


SECTIONS = (
    Section("startup", "How long one waits", "Fresh processes; *at most* is what must hold.", networks=True),
    Section(
        "speed", "Whole searches", "All nodes of the Alarm network, 5,000 rows.", ("--only", "alarm"), networks=True
    ),
    Section("kernels", "Counting", "A scan is compared with a plain read of memory.", ("--only", "scan")),
    Section("soak", "Memory of a long process", "A thousand searches, one after the other."),
)


def printed(section: Section, networks: Path | None) -> str:
    """Run a benchmark and return its block."""
    words = [*section.arguments, *(("--networks", "NETWORKS") if section.networks else ())]
    given = [str(networks) if word == "NETWORKS" else word for word in words]
    if section.networks and networks is None:
        given = list(section.arguments)
    done = subprocess.run(
        [sys.executable, str(HERE / f"{section.name}.py"), *given], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{section.name}.py failed:\n{done.stdout}{done.stderr}")
    command = " ".join(["python", f"benchmarks/{section.name}.py", *words])
    return f"$ {command}    ({time.strftime('%Y-%m-%d')})\n{done.stdout.strip()}"


def blocks(page: str) -> dict[str, str]:
    """Return the blocks that a page holds, by the name of their script.

    >>> blocks("# A\\n\\n```text\\n$ python benchmarks/soak.py    (2026-01-01)\\nflat\\n```\\n")
    {'soak': '$ python benchmarks/soak.py    (2026-01-01)\\nflat'}
    """
    found = re.findall(r"^```text\n(\$ python benchmarks/(\w+)\.py.*?)\n```$", page, flags=re.M | re.S)
    return {name: block for block, name in found}


def written(known: dict[str, str]) -> str:
    """Return the page with these blocks."""
    parts = [HEAD]
    for section in SECTIONS:
        if section.name in known:
            parts.append(f"\n## {section.title}\n\n{section.words}\n\n```text\n{known[section.name]}\n```\n")
    return "".join(parts)


def main() -> int:
    options_of = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options_of.add_argument("--networks", type=Path, help="folder with alarm.bif (or .bif.gz)")
    options_of.add_argument("--only", nargs="+", choices=[section.name for section in SECTIONS])
    options = options_of.parse_args()

    known = blocks(PAGE.read_text("utf-8")) if PAGE.exists() else {}
    for section in SECTIONS:
        if options.only is None or section.name in options.only:
            known[section.name] = printed(section, options.networks)
    PAGE.write_text(written(known), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
