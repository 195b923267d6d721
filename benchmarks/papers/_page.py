"""The page docs/reproduction.md, made from what the experiments kept."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from benchmarks.papers._experiment import Experiment, Finding, Verdict

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

DOCS = Path(__file__).parents[2] / "docs"
KEPT = DOCS / "reproduction"
VERDICTS = get_args(Verdict)

HEAD = """# The papers, reproduced

Every row below comes from a run of the code in `benchmarks/papers`, at the settings stated in its section, and can
be had again by its command; DATA is a folder with the data sets named in the script. *Agrees*: the printed value
lies within two standard errors of ours. *Same ordering*: the numbers differ, the conclusion drawn from them does
not. *Undecided*: one thing is said to exceed another, and our difference lies within its 95% interval, whatever its
sign. *Differs*: with the reason, and the experiment that supports it. Sources: Peña, Björkegren
and Tegnér 2005, *Scalable, efficient and correct learning of Markov boundaries*; Verma 2005, slides on KS, GS, IAMB
and HITON, with the tables of Tsamardinos and others 2003 and Aliferis and others 2003; Sechidis 2015, *Hypothesis
testing and feature selection in semi-supervised data* (thesis); Sechidis and Brown 2015, *Markov blanket discovery
in positive-unlabeled and semi-supervised data*; Gao and Ji 2016, *Constrained local latent variable discovery*.
What the papers get wrong, and what is done about it, is in the [errata](explanation/errata.md).
"""


def keep(
    experiment: Experiment, rows: pd.DataFrame, figure: Figure, findings: Sequence[Finding], *, quick: bool, code: str
) -> None:
    """Keep rows, figure and findings; those of a reduced protocol never replace those of the full one."""
    KEPT.mkdir(exist_ok=True)
    summary = KEPT / f"{experiment.name}.json"
    if quick and summary.exists() and not json.loads(summary.read_text("utf-8"))["quick"]:
        return
    rows.to_csv(KEPT / f"{experiment.name}.csv", index=False, float_format="%.6g")
    figure.savefig(KEPT / f"{experiment.name}.png", dpi=110)
    content = {
        "title": experiment.title,
        "source": experiment.source,
        "protocol": experiment.protocol(quick),
        "quick": quick,
        "code": code,
        "remark": experiment.remark,
        "findings": [asdict(finding) for finding in findings],
    }
    summary.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def rows_of(experiment: Experiment) -> pd.DataFrame:
    """Return the kept rows of an experiment."""
    import pandas as pd

    words = dict.fromkeys(experiment.words, "")
    return pd.read_csv(KEPT / f"{experiment.name}.csv", dtype=dict.fromkeys(words, str)).fillna(words)


def write() -> None:
    """Write the page anew from all that is kept."""
    sections = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(KEPT.glob("*.json"))}
    lines = [HEAD, f"| id | source | {' | '.join(VERDICTS)} |", "|---|---|---|---|---|---|"]
    for name, section in sections.items():
        counts = Counter(finding["verdict"] for finding in section["findings"])
        cells = [str(counts[verdict]) for verdict in VERDICTS]
        lines.append(f"| [{name}](#{name}) | {_text(section['source'])} | {' | '.join(cells)} |")
    for name, section in sections.items():
        lines += _section(name, section)
    (DOCS / "reproduction.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _section(name: str, section: dict[str, Any]) -> list[str]:
    command = f"python -m benchmarks.papers {name}{' --quick' if section['quick'] else ''} --data DATA"
    reduced = " (a reduced protocol)" if section["quick"] else ""
    lines = [
        "",
        f"({name})=",
        f"## {name}",
        "",
        f"**{section['source']}: {section['title']}.** {section['protocol']}{reduced}. `{command}`, "
        f"code at {section['code']}, numbers in [{name}.csv](reproduction/{name}.csv).",
        "",
        "| what | printed | ours | verdict |",
        "|---|---|---|---|",
    ]
    for finding in section["findings"]:
        verdict = finding["verdict"] + (f": {finding['why']}" if finding["why"] else "")
        lines.append(
            f"| {_text(finding['what'])} | {_text(finding['printed'])} | {_text(finding['ours'])} | {_text(verdict)} |"
        )
    lines += ["", f"![{section['title']}](reproduction/{name}.png)"]
    return lines + (["", section["remark"]] if section["remark"] else [])


def _text(said: str) -> str:
    return said.replace("|", "\\|").replace("\n", " ")
