"""Options that several commands share, and how they become arguments of the library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from glob import has_magic
from pathlib import Path
from typing import Any, TypeVar

import click

from blankets.errors import BlanketsError, ParameterError, RegimeWarning, listed
from blankets.voice import option

Command = TypeVar("Command", bound=Callable[..., Any])

_SMALL = 2**26  # bytes of a file that is read only to say which columns it has
_WORDS = {"true": True, "false": False, "none": None}
# Fields of the objects of the library; the first is the string that can replace the object.
_TESTING = ("test", "dof", "reliability", "strength")
_ENGINE = ("engine", "address", "memory_limit", "checkpoint")
OF_FILES = ("separator", "decimal", "date_order", "encoding", "na", "sheet")
_REGIME = (
    *("sampling", "surrogate", "force", "given_drivers", "drivers", "propensity"),
    *("false_positive", "false_negative", "machine"),
)


# The regime that an option belongs to, where --labels is left out.
_MEANS = {
    **dict.fromkeys(("sampling", "drivers", "propensity"), "pu"),
    **{"false_positive": "noisy", "false_negative": "noisy", "machine": "predicted"},
}


def _all(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Return a decorator that adds options in this order."""

    def add(command: Command) -> Command:
        for add_one in reversed(options):  # the last decorator is the first in the help
            command = add_one(command)
        return command

    return add


class _Target(click.Option):
    """The option that names the target; where it is missing, the columns are named."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the name that was given."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter:
            path, offered = Path(ctx.params.get("file") or ""), ""
            if path.is_file() and path.stat().st_size <= _SMALL:
                from blankets.data import open_table

                with suppress(BlanketsError):
                    offered = f"\nThe columns of {path.name} are {listed(open_table(path).names, 40)}."
            raise click.UsageError(f"Say with --target which column the question is about.{offered}", ctx) from None


target_option = click.option(
    *("-t", "--target"),
    cls=_Target,
    required=True,
    metavar="NAME",
    help="The target: the column that the question is about.",
)
label_options = _all(
    click.option(
        "--labels", metavar="REGIME", help="What labels are: auto (default), pu, mcar, mar-f, mar-c, noisy, predicted."
    ),
    click.option(
        "--prior",
        metavar="P",
        help="p(y=1): a number, '<0.4', a range 0.1-0.3, 'Beta(mode=0.2, low=0.1, high=0.4)', or 'estimate' "
        "(also estimate:tice, estimate:elkan-noto).",
    ),
    click.option(
        "--sampling",
        type=click.Choice(["one-sample", "case-control"]),
        help="For pu: labels in one sample (default), or positives collected separately.",
    ),
    click.option(
        "--surrogate",
        metavar="NAME",
        help="What is counted in place of the target: listwise, ym, y0, y1; pairwise to compare.",
    ),
    click.option("--force", is_flag=True, default=None, help="Use a surrogate that is not valid; the result says so."),
    click.option(
        "--given-drivers/--no-given-drivers",
        default=None,
        help="For mar-f: condition on the columns that labeling depends on (default), or do not.",
    ),
    click.option(
        "--driver", "drivers", multiple=True, metavar="COLUMN", help="For pu: a column that labeling depends on."
    ),
    click.option("--propensity", metavar="COLUMN", help="For pu: how often each row is labeled, if it is positive."),
    click.option("--false-positive", metavar="P", help="For noisy: how often a negative is labeled positive."),
    click.option("--false-negative", metavar="P", help="For noisy: how often a positive is labeled negative."),
    click.option("--machine", metavar="COLUMN", help="For predicted: the machine's labels, in every row."),
)
reading_options = _all(
    click.option(
        "--missing",
        metavar="POLICY",
        help="Missing values of features: testwise (default), weighted, level, drop, error.",
    ),
    click.option(
        "--discretize",
        metavar="RULE",
        help="How numbers are cut into levels, or COLUMN=RULE; default: they are not, where the test takes numbers.",
    ),
    click.option("--n-bins", type=int, metavar="N", help="Number of levels for continuous columns."),
    click.option("--keep", multiple=True, metavar="COLUMN", help="Use this column even if it looks like an id."),
    click.option("--columns", multiple=True, metavar="COLUMN", help="Use these columns only."),
    click.option("--exclude", multiple=True, metavar="COLUMN", help="Do not use this column."),
    click.option("--positive", metavar="CLASS", help="The positive class, where labels are missing."),
    click.option("--unlabeled-marker", metavar="VALUE", help="A value that means unlabeled, besides blanks and -1."),
    click.option("--weight", "sample_weight", metavar="COLUMN", help="How many rows each row stands for."),
    click.option("--survey-weight", metavar="COLUMN", help="Weights of a survey, for tests of the population."),
    click.option("--groups", metavar="COLUMN", help="Which rows belong together, such as those of a patient."),
    click.option(
        "--ordered",
        multiple=True,
        metavar="COLUMN[=LOW,...,HIGH]",
        help="Levels of this column have an order: that of numbers, or the one given here.",
    ),
    click.option("--separator", metavar="MARK", help="Mark between fields of a text file, for example ';' or tab."),
    click.option("--decimal", metavar="MARK", help="Decimal mark of numbers in text: . or ,"),
    click.option("--date-order", metavar="ORDER", help="Order of dates such as 03/04/2024: dmy or mdy."),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file, for example cp1252."),
    click.option("--na", multiple=True, metavar="WORD", help="A text that means missing, in every column."),
    click.option("--sheet", metavar="NAME", help="Sheet of an Excel file: its name, or its number from 1 on."),
)
test_options = _all(
    click.option("--alpha", type=float, help="Significance level of the tests; default: 0.01."),
    click.option("--test", metavar="NAME", help="Test of independence: auto (default, calibrated), g, x2 or fisher-z."),
    click.option("--dof", metavar="RULE", help="Degrees of freedom of g and x2: adjusted (to empty cells) or nominal."),
    click.option(
        "--reliability", type=float, metavar="H", help="Rows needed for each degree of freedom of a test; default: 5."
    ),
    click.option("--strength", metavar="MEASURE", help="How candidates are compared: p-value or information."),
)
search_options = _all(
    click.option(
        "-a", "--algorithm", metavar="NAME", help="Which algorithm (see 'blankets algorithms'); default: auto."
    ),
    click.option(
        "--option", "pairs", multiple=True, metavar="NAME=VALUE", help="An option of the algorithm, for example k=2."
    ),
    test_options,
)
knowledge_option = click.option(
    "--knowledge",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="What is known beforehand: a TOML file with tiers, required, forbidden, together, always_given.",
)
engine_options = _all(
    click.option("--engine", metavar="NAME", help="Where rows are counted: auto, memory or dask (a cluster)."),
    click.option("--address", metavar="URL", help="The scheduler of the Dask cluster; default: a new one here."),
    click.option(
        "--memory-limit",
        metavar="SIZE",
        help="Memory for reading, for example '2 GB'; larger files are packed on disk first.",
    ),
    click.option(
        "--checkpoint",
        type=click.Path(dir_okay=False),
        help="Keep answers in this file; a run that was stopped continues from it.",
    ),
)
jobs_option = click.option("--jobs", "n_jobs", type=int, metavar="N", help="Number of threads; default: all.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON document.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress and no notes.")
json_options = _all(
    json_option,
    click.option("--save", type=click.Path(dir_okay=False, path_type=Path), help="Write the result to this JSON file."),
    quiet_option,
)


class Source(click.Path):
    """A path that exists, or a pattern of paths in quotes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Check that the path exists, unless it is a pattern."""
        if has_magic(str(value)):
            return value
        if not Path(value).exists():
            from blankets.data import no_file

            self.fail(no_file(Path(value)), param, ctx)
        return super().convert(value, param, ctx)


def value_of(text: str) -> Any:
    """Return the value of a text on the command line: a number, true, false, none, or the text itself.

    >>> [value_of(text) for text in ("2", "0.5", "true", "none", "yes")]
    [2, 0.5, True, None, 'yes']
    """
    return _WORDS[text.lower()] if text.lower() in _WORDS else number_of(text)


def number_of(text: str) -> Any:
    """Return the number that a text is, or the text itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parsed_options(pairs: tuple[str, ...]) -> dict[str, object]:
    """Return ``("k=2", "symmetric=true")`` as a dict; values are numbers, true, false, none or text.

    >>> parsed_options(("k=2", "level=0.5", "symmetric=true", "max_given=none", "order=as-is"))
    {'k': 2, 'level': 0.5, 'symmetric': True, 'max_given': None, 'order': 'as-is'}
    """
    options = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (key and equals):
            raise click.BadParameter(f"{pair!r} is not of the form NAME=VALUE", param_hint="'--option'")
        options[key.replace("-", "_")] = value_of(text)
    return options


def orders(words: tuple[str, ...]) -> tuple[str, ...] | dict[str, list[str] | None]:
    """Return columns with an order as the library takes them; an empty word names none.

    >>> orders(("age",)), orders(("age", "dose=low,mid,high"))
    (('age',), {'age': None, 'dose': ['low', 'mid', 'high']})
    """
    named = tuple(word for word in words if word)
    if not any("=" in word for word in named):
        return named
    pairs = (word.partition("=") for word in named)
    return {name: levels.split(",") if equals else None for name, equals, levels in pairs}


def rules(word: str) -> str | dict[str, str]:
    """Return a rule for numbers, or that of one column, as the library takes it.

    >>> rules("sturges"), rules("visits=number")
    ('sturges', {'visits': 'number'})
    """
    name, equals, rule = word.rpartition("=")
    return {name: rule} if equals else word


def arguments(file: str, target: str | None, choices: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a library function, from the options above and any others.

    Options that the user did not give keep the defaults of the library. With ``--prior estimate`` the prior is
    estimated from the file.
    """
    given = {name: value for name, value in choices.items() if value is not None and value != ()}
    if "pairs" in given:
        given["options"] = parsed_options(given.pop("pairs"))
    if "knowledge" in given:
        from blankets import Knowledge

        given["knowledge"] = Knowledge.from_toml(given["knowledge"])
    readers: dict[str, Callable[[Any], Any]]
    readers = {"positive": value_of, "unlabeled_marker": value_of, "ordered": orders, "discretize": rules}
    given |= {name: read(given[name]) for name, read in readers.items() if name in given}
    if given.get("separator") in ("tab", "\\t"):
        given["separator"] = "\t"
    for names in (_TESTING, _ENGINE):
        _as_object(given, names)
    if str(given.get("prior", "")).partition(":")[0] == "estimate":
        given["prior"] = _estimated(file, target, given)
    how = {name: given.pop(name) for name in _REGIME if name in given}
    if how:
        from blankets.regimes import regime_from

        word = given.get("labels") or next((regime for name, regime in _MEANS.items() if name in how), "auto")
        if word == "auto":
            raise ParameterError(
                f"say with {option('labels')} why labels are missing: it is needed for {option(next(iter(how)))}"
            )
        given["labels"] = regime_from(word, prior=given.pop("prior", None), **how)
    return given


def _as_object(given: dict[str, Any], names: tuple[str, ...]) -> None:
    """Put options that belong to one object into it; if only the first is given, it stays a string."""
    word, *others = names
    if any(name in given for name in others):
        from blankets import Engine, Testing

        made = {"test": Testing, "engine": Engine}[word]
        fields = {name: given.pop(name) for name in others if name in given}
        given[word] = made(given.pop(word, "auto"), **fields)


def _estimated(file: str, target: str | None, given: Mapping[str, Any]) -> Any:
    from blankets import estimate_prior
    from blankets.data import ReadingOptions

    method = given["prior"].partition(":")[2] or "roc"
    wanted = {name: given[name] for name in ReadingOptions.__annotations__ if name in given}
    # The same file gives the same prior.
    sampling = given.get("sampling", "one-sample")
    prior = estimate_prior(file, target, method=method, sampling=sampling, rng=0, **wanted)
    warnings.warn(f"p(y=1) is {prior}", RegimeWarning, stacklevel=2)  # the command makes it a note
    return prior
