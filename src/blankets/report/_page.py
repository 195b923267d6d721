"""`report`: one file about one blanket, to read and to send by mail; arranges the content of `report_content`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from blankets.errors import ParameterError, guarded
from blankets.records import write_whole
from blankets.report._content import report_content
from blankets.report._drawing import effect_bar, effect_scale, graph, legend, share_bar
from blankets.report._html import Html, asset, data_block, many, page, tag
from blankets.report._planner import Start, planner_body
from blankets.report._start import start_of

if TYPE_CHECKING:
    from blankets.latent import LatentBlanket
    from blankets.report._effects import Effects
    from blankets.report._neighborhood import Graph
    from blankets.report._trail import Trail
    from blankets.results import Blanket


@guarded
def report(
    blanket: Blanket,
    path: str | Path,
    *,
    source: str = "",
    stability: Mapping[str, float] | None = None,
    sensitivity: Sequence[tuple[float, Sequence[str]]] | None = None,
    latent: LatentBlanket | None = None,
    planner: bool = True,
) -> Path:
    """Write a blanket as one self-contained HTML page: the answer, its evidence, and how to reproduce it.

    The page opens from disk, loads nothing, and may not use the network.

    Parameters
    ----------
    blanket : Blanket
        The result.
    path : str or Path
        The file to write.
    source : str
        Where the data are, for the command that reproduces the result.
    stability : Stability or mapping of str to float, optional
        For each column the share of resamples in which it was a member.
    sensitivity : sequence of (float, sequence of str), optional
        Members under other values of the class prior: `blankets.Sensitivity` has them as ``runs``.
    latent : LatentBlanket, optional
        Latent members of the same target, from `blankets.discover_latent`.
    planner : bool
        Whether the page ends with a planner with the numbers of this study.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from blankets.results import Blanket, NamedEvidence
    >>> from blankets.report import report
    >>> e = NamedEvidence(x="age", y="ill", statistic=52.0, dof=2, log_p=-26.0, effect=0.026, n_rows=1000)
    >>> blanket = Blanket(target="ill", members=("age",), strengths={"age": e}, algorithm="iamb",
    ...                   settings={"alpha": 0.01, "test": "g"}, columns=("age", "hair", "ill"), n_rows=1000)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = report(blanket, f"{folder}/ill.html")
    ...     print(file.name, file.stat().st_size < 100_000)
    ill.html True
    """
    if latent is not None and latent.target != blanket.target:
        raise ParameterError(
            f"the latents are those of {latent.target!r}, but the blanket is that of {blanket.target!r}"
        )
    content = report_content(blanket, source=source, stability=stability, sensitivity=sensitivity, latent=latent)
    return write_whole(path, report_page(content, start_of(blanket) if planner else None))


def report_page(content: Mapping[str, Any], start: Start | None = None) -> str:
    """Return a report as one HTML document.

    ``content``: from `report_content`. ``start``: numbers of the study for the planner; without them the page has no
    planner.
    """
    latents: list[str] | None = content["latents"]
    words = tag("details", tag("summary", "What the technical words mean"), _facts(content["terms"], "settings"))
    sections = [
        _head(content),
        _graph_section(content["neighborhood"]),
        None if latents is None else _section("latents", "Latent variables", *(tag("p", text) for text in latents)),
        _effects_section(content["effects"]),
        _trail_section(content["trail"]),
        _labels_section(content["labels"], content["sensitivity"]),
        _stability_section(content["stability"]),
        _health_section(content["health"]),
        _planner_section(start, content["planner_caution"]),
        _method_section(content),
        _section("terms", "Words in this report", words),
    ]
    known = {
        "boxes": [
            {key: box[key] for key in ("label", "role", "words", "lines") if key in box}
            for box in content["neighborhood"]["boxes"]
        ],
        "target": content["answer"],
        "trail": content["trail"]["rows"],
    }
    body = many(tag("main", *sections, class_="sheet"), data_block(known, "report-data"))
    planner = start is not None
    return page(
        title=content["title"],
        description=content["description"],
        body=body,
        styles=[asset("base.css"), asset("report.css"), *([asset("planner.css")] if planner else [])],
        scripts=[asset("report.js"), *([asset("noncentral.js"), asset("planner.js")] if planner else [])],
    )


def _section(identifier: str, title: str, *children: object) -> Html:
    heading = tag("h2", title, id=f"{identifier}-title")
    return tag("section", heading, *children, id=identifier, aria_labelledby=f"{identifier}-title")


def _head(content: Mapping[str, Any]) -> Html:
    assumptions = tag("ul", *(tag("li", sentence) for sentence in content["assumptions"]))
    checks = [tag("p", tag("strong", "Check: "), sentence, class_="notice") for sentence in content["checks"]]
    notes = [*checks, *(tag("p", sentence, class_="notice") for sentence in content["notes"])]
    return tag(
        "header",
        tag("h1", content["title"]),
        tag("p", content["answer"], class_="answer"),
        tag("p", content["meaning"], class_="meaning"),
        *notes,
        tag("details", tag("summary", "This holds if"), assumptions, open=""),
        _facts(content["facts"], "facts"),
    )


def _facts(pairs: list[list[str]], kind: str) -> Html:
    return tag("dl", *(tag("div", tag("dt", label), tag("dd", value)) for label, value in pairs), class_=kind)


def _graph_section(content: Graph) -> Html | None:
    if not content["lines"]:
        return None
    hint = tag(
        "p", "Point at a box, or reach it with the Tab key, to see the test that decided.", class_="hint on-screen"
    )
    card = tag("div", id="card", class_="card", aria_live="polite")
    figure = tag("figure", graph(content, "wide"), graph(content, "tall"), legend(content))
    note = tag("p", content["note"], class_="hint") if content["note"] else None
    return _section("neighborhood", "The neighborhood", figure, note, hint, card)


def _effects_section(content: Effects) -> Html | None:
    if not content["rows"]:
        return None
    roles, notes = (any(row[key] for row in content["rows"]) for key in ("role", "note"))
    scale = tag("th", effect_scale(content), scope="col", class_="wide-only")
    *compared, measure = [head[:1].upper() + head[1:] for head in content["headings"]] or [""]
    heads = ["Member", *(["Role"] if roles else []), *compared, *([measure] if measure else []), "p", "Size", scale]
    heads += [*([] if content["alike"] else ["p given"]), *(["Note"] if notes else [])]
    head = tag("tr", *(h if isinstance(h, Html) else tag("th", h, scope="col") for h in heads))
    rows = [
        tag(
            "tr",
            tag("th", row["name"], scope="row"),
            _cell("Role", row["role"] or "–") if roles else None,
            *(_cell(head, words) for head, words in zip(compared, row["compared"], strict=True)),
            tag("td", row["estimate"], data_label=measure, class_="number") if measure else None,
            tag("td", row["p"], data_label="p", title=row["test"], class_="number"),
            _cell("Size", row["size"]),
            tag("td", effect_bar(row, content), class_="bar-cell"),
            None if content["alike"] else tag("td", row["given"], data_label="p given", class_="names"),
            _note(row["note"]) if notes else None,
        )
        for row in content["rows"]
    ]
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="stack")
    return _section("effects", "How strongly", table, tag("p", content["words"], class_="hint lines"))


def _cell(label: str, value: str) -> Html:
    return tag("td", value, data_label=label)


def _note(words: str) -> Html:
    return tag("td", words or "–", data_label="Note", class_="names" if words else "empty")


def _trail_section(content: Trail) -> Html:
    choices = [
        ("", "all columns"),
        ("member", "in the blanket"),
        ("left out", "left out"),
        ("excluded", "not searched"),
    ]
    options = [tag("option", words, value=value) for value, words in choices]
    controls = tag(
        "div",
        tag("label", "Find a column ", tag("input", id="find", type="search", autocomplete="off", spellcheck="false")),
        tag("label", "Show ", tag("select", *options, id="which")),
        class_="controls",
    )
    steps = tag("ol", *(tag("li", row) for row in content["steps"]["rows"]))
    folded = tag("details", tag("summary", content["steps"]["words"]), steps) if content["steps"]["rows"] else None
    return _section(
        "trail",
        "Why is a column in or out?",
        controls,
        tag("p", "", id="count", class_="hint", role="status"),
        tag("ul", id="columns", class_="columns"),
        tag("button", "Show more", id="more", type="button", hidden=""),
        tag("noscript", tag("p", "The list needs scripts, which are switched off.", class_="notice")),
        tag("p", content["note"], class_="hint") if content["note"] else None,
        folded,
    )


def _labels_section(labels: list[list[str]] | None, sensitivity: Mapping[str, Any] | None) -> Html | None:
    if labels is None and sensitivity is None:
        return None
    parts: list[Html] = [] if labels is None else [_facts(labels, "settings")]
    if sensitivity is not None:
        head = tag("tr", tag("th", "p(y=1) ="), *(tag("th", prior, scope="col") for prior in sensitivity["priors"]))
        rows = [
            tag("tr", tag("th", name, scope="row"), *(tag("td", "●" if member else "–") for member in members))
            for name, members in sensitivity["rows"]
        ]
        table = tag("table", tag("thead", head), tag("tbody", *rows))
        parts += [tag("h3", "If the class prior were another"), tag("div", table, class_="scroll", tabindex="0")]
        parts.append(tag("p", sensitivity["words"], class_="hint"))
    return _section("labels", "Labels and class prior", *parts)


def _stability_section(content: Mapping[str, Any] | None) -> Html | None:
    if content is None:
        return None
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            _cell("In the blanket", "yes" if member else "no"),
            tag("td", share_bar(share), class_="bar-cell"),
            _cell("Found in", f"{share:.0%}"),
        )
        for name, member, share in content["rows"]
    ]
    head = tag("tr", *(tag("th", text, scope="col") for text in ("Column", "In the blanket", "", "Found in")))
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="stack")
    return _section("stability", "Stability over resamples", table, tag("p", content["words"], class_="hint"))


def _health_section(findings: list[dict[str, str]]) -> Html:
    signs = {"fine": "✓", "note": "i", "loss": "!"}
    items = [
        tag(
            "li",
            tag("span", signs[one["tone"]], class_="sign", aria_hidden="true"),
            tag("span", tag("strong", one["what"]), " ", one["detail"]),
            class_=one["tone"],
        )
        for one in findings
    ]
    return _section("health", "The data", tag("ul", *items, class_="findings"))


def _planner_section(start: Start | None, caution: str) -> Html | None:
    if start is None:
        return None
    intro = tag("p", "How many rows or labels would the next study need? The planner opens with this one's numbers.")
    if caution:
        intro = many(intro, tag("p", caution, class_="notice"))
    folded = tag("details", tag("summary", "Open the planner"), planner_body(start))
    return _section("planner-section", "Plan the next study", intro, folded)


def _method_section(content: Mapping[str, Any]) -> Html:
    again = content["reproduce"]
    parts: list[Html] = []
    for label, text in (("Python", again["python"]), ("Command line", again["cli"])):
        if text:
            parts += [tag("h3", label), tag("pre", tag("code", text), tabindex="0")]
    if again["note"]:
        parts.append(tag("p", again["note"], class_="hint"))
    if content["why"]:
        parts.insert(0, _facts(content["why"], "settings"))
    settings = tag("details", tag("summary", "All settings"), _facts(content["settings"], "settings"))
    versions = tag("details", tag("summary", "Versions, data and seed"), _facts(content["versions"], "settings"))
    return _section("method", "How to get this again", *parts, settings, versions)
