"""`latent_report`: one page about a blanket with latent members."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from blankets.errors import guarded
from blankets.records import write_whole
from blankets.report._html import Html, asset, many, page, tag
from blankets.results import count_of, digits, joined, shown

if TYPE_CHECKING:
    from blankets.latent import Latent, LatentBlanket

_LEGEND = "Parents stand above the target, children below it. Dashed: latent. White: looked at, not a member."


@guarded
def latent_report(found: LatentBlanket, path: str | Path) -> Path:
    """Write a latent blanket as one self-contained HTML page: the latents, their places, and the alternatives.

    Parameters
    ----------
    found : LatentBlanket
        From `blankets.discover_latent`.
    path : str or Path
        The file to write.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import blankets as bl
    >>> from blankets.report import latent_report
    >>> table = {"a": [0, 0, 1, 1] * 50, "b": [0, 1, 1, 1] * 50, "t": [0, 0, 1, 1, 0, 1, 1, 1] * 25}
    >>> found = bl.discover_latent(table, "t", n_restarts=1, rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(latent_report(found, f"{folder}/t.html").name)
    t.html
    """
    title = f"Latent Markov blanket of {found.target}"
    settings = found.settings.items()
    body = tag(
        "main",
        tag("h1", title),
        tag("p", _answer(found), class_="answer"),
        tag("figure", Html(found.picture()), tag("figcaption", _LEGEND)),
        *(_latent(found, latent) for latent in found.latents),
        tag("h2", "What competed"),
        _table(
            ("Where", "Search", "Information (nats)", "BIC", "Training error", "Outcome"),
            [
                (
                    s.subspace,
                    s.latent,
                    _figure(s.mi),
                    _figure(s.bic, 1),
                    _figure(s.error),
                    s.refused or joined(s.members),
                )
                for s in found.scores
            ],
            kind="stack",
        ),
        *(tag("p", f"Note: {warning}") for warning in found.warnings),
        tag("h2", "How it was done"),
        _table(("Setting", "Value"), [("method", found.method), ("score", found.score), *map(_setting, settings)]),
        class_="sheet",
    )
    styles = [asset("base.css"), asset("report.css")]
    return write_whole(path, page(title=title, description=_answer(found), body=body, styles=styles, scripts=[]))


def _answer(found: LatentBlanket) -> str:
    rows = f"in {found.n_rows:,} rows"
    if not found.latents:
        return f"No latent variable near {found.target} is supported {rows}; the blanket is {joined(found.members)}."
    return f"{count_of(len(found.latents), 'latent variable')} near {found.target} {rows}: {joined(found.members)}."


def _latent(found: LatentBlanket, latent: Latent) -> Html:
    """Return the section about one latent, with its table."""
    states = [f"state {k}" for k in range(len(latent.prevalence))]
    flat = latent.table.reshape(-1, len(states))
    given = _configurations(found, latent) if latent.parents else ["always"]
    rows = [(name, *(f"{p:.3f}" for p in row)) for name, row in zip(given, flat, strict=True)]
    return many(tag("h2", latent.name), tag("p", found.explain(latent.name)), _table(("Probability", *states), rows))


def _configurations(found: LatentBlanket, latent: Latent) -> list[str]:
    """Return the levels of the parents of a latent, one text for each row of its table."""
    known = dict(zip(found.encoder.names, found.encoder.levels, strict=True))
    levels = [
        [shown(str(level)) for level in known[name]] if name in known else [f"state {k}" for k in range(size)]
        for name, size in zip(latent.parents, latent.table.shape, strict=False)
    ]
    names = [shown(name) for name in latent.parents]
    return [", ".join(f"{n} = {v}" for n, v in zip(names, values, strict=True)) for values in product(*levels)]


def _setting(pair: tuple[str, object]) -> tuple[str, str]:
    key, value = pair
    return key, "not given" if value is None else "none" if value in ({}, (), []) else str(value)


def _table(headings: Sequence[object], rows: Sequence[Sequence[object]], kind: str | None = None) -> Html:
    """Return a table that scrolls, or, of the kind "stack", has its cells below each other on a narrow screen."""
    head = tag("tr", *(tag("th", heading, scope="col") for heading in headings))
    body = (tag("tr", tag("th", row[0], scope="row"), *map(_cell, headings[1:], row[1:])) for row in rows)
    table = tag("table", tag("thead", head), tag("tbody", *body), class_=kind)
    return table if kind else tag("div", table, class_="scroll", tabindex="0")


def _cell(heading: object, value: object) -> Html:
    return tag("td", value, data_label=heading)


def _figure(value: float, places: int = 4) -> str:
    return "-" if math.isnan(value) else digits(value) if places > 1 else f"{value:.1f}"
