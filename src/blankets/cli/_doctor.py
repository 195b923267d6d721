"""``blankets doctor``: whether this installation works, and what it lacks; ``versions``: what a bug report needs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final, Literal

import click

from blankets.cli._arguments import json_option
from blankets.cli._output import show_json

OK: Final = "ok"
MISSING: Final = "missing"
WRONG: Final = "wrong"
REQUIREMENT = re.compile(r"([\w.-]+?)(?:\[[\w,]+\])?>=([\w.]+)(?:; *extra == ['\"]([\w-]+)['\"])?")
FOR_DEVELOPERS = ("test", "docs", "browser-test")
_NEEDED = ("numpy", "scipy", "scikit-learn", "networkx", "click", "rich")
_OPTIONAL = ("pyarrow", "matplotlib", "pandas", "polars")
TABLE = ((30, 10), (15, 25))  # of the question that is asked to see whether answers come out right


@dataclass(frozen=True)
class Finding:
    """One line of the answer."""

    state: Literal["ok", "missing", "wrong"]
    name: str
    found: str
    advice: str = ""


@click.command()
@json_option
def doctor(*, as_json: bool) -> int:
    """Check this installation: versions, kernels, threads, and what is missing.

    Says for each line that is not "ok" what to do. The exit code is 1 if something is wrong; optional packages that are
    not installed are no fault.
    """
    findings = list(_packages())
    if all(finding.state != WRONG for finding in findings):
        findings += [_kernels(), _answer()]
    findings += [_threads(), *_places()]
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            click.echo(f"{finding.state:<7}  {finding.name:<{width}}  {finding.found}")
            if finding.advice:
                click.echo(f"{'':<7}  {'':<{width}}  {finding.advice}")
        wrong = sum(finding.state == WRONG for finding in findings)
        click.echo(f"\n{wrong} of these lines need your attention." if wrong else "\nNothing is wrong.")
    return int(any(finding.state == WRONG for finding in findings))


def _packages() -> Iterator[Finding]:
    """Compare what is installed with what the package asks for: its metadata are the one list of that."""
    import platform
    from importlib.metadata import requires

    from blankets import __version__

    yield Finding(OK, "blankets", f"{__version__}, Python {platform.python_version()}, {platform.platform()}")
    needed: dict[str, tuple[str, list[str]]] = {}
    for line in requires("blankets") or ():
        found = REQUIREMENT.fullmatch(line)
        if found is not None and found[3] not in FOR_DEVELOPERS:
            needed.setdefault(found[1], (found[2], []))[1].append(found[3] or "")
    for package, (oldest, extras) in needed.items():
        yield _package(package, oldest, [] if "" in extras else extras)


def _package(package: str, oldest: str, extras: list[str]) -> Finding:
    install = f"pip install 'blankets[{extras[0]}]'" if extras else f"pip install '{package}>={oldest}'"
    version = version_of(package)
    if version is None and extras:
        words = f"not installed; only needed for: {', '.join(extras)}"
        return Finding(MISSING, package, words, f"if you want that, install it with: {install}")
    if version is None:
        return Finding(WRONG, package, "not installed", f"install it with: {install}")
    if _numbers(version) < _numbers(oldest):
        return Finding(WRONG, package, f"{version} is too old", f"install a newer one with: {install}")
    return Finding(OK, package, version)


def _numbers(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version.

    >>> _numbers("2.1.0rc1"), _numbers("18")
    ((2, 1, 0), (18, 0, 0))
    """
    found = re.match(r"\d+(?:\.\d+)*", version)
    numbers = [int(part) for part in found[0].split(".")] if found else []
    return tuple([*numbers, 0, 0, 0][:3])


def _kernels() -> Finding:
    if kernels_in_use():
        return Finding(OK, "kernels", "compiled")
    if os.environ.get("BLANKETS_UNCOMPILED"):
        return Finding(WRONG, "kernels", "not used, as BLANKETS_UNCOMPILED is set: slow", "remove that variable")
    advice = "install blankets again where there is a C compiler, or where pip can download ziglang"
    return Finding(WRONG, "kernels", "not compiled: right, but about a hundred times slower", advice)


def _answer() -> Finding:
    """Ask a small question, and compare with the formula."""
    import time
    from math import isclose, log

    from blankets import test

    rows = [(a, b) for a, counts in enumerate(TABLE) for b, n in enumerate(counts) for _ in range(n)]
    across, down = [sum(counts) for counts in TABLE], [sum(counts) for counts in zip(*TABLE, strict=True)]
    expected = 2 * sum(
        n * log(n * len(rows) / (across[a] * down[b])) for a, counts in enumerate(TABLE) for b, n in enumerate(counts)
    )
    began = time.perf_counter()
    found = test({"x": [a for a, _ in rows], "y": [b for _, b in rows]}, "x", "y", test="g").statistic
    said = f"a small question took {time.perf_counter() - began:.2f} s"
    if isclose(found, expected, rel_tol=1e-9):
        return Finding(OK, "answers", f"{said}, and its answer is right")
    wrong = f"{said}, and its answer is wrong: G is {found:.6g} in place of {expected:.6g}"
    return Finding(WRONG, "answers", wrong, "install blankets again in a fresh environment, and report it if it stays")


def _threads() -> Finding:
    cores = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    if usable < cores:
        return Finding(OK, "threads", f"{cores}, but this process may use {usable} cores", f"say n_jobs={usable}")
    return Finding(OK, "threads", f"{cores}, one for each core (n_jobs= changes it)")


def _places() -> Iterator[Finding]:
    yield Finding(OK, "GPU", "not used: all work is done by the processor")
    yield Finding(OK, "cache", "none: nothing is written besides the files that you name")


@click.command()
@json_option
def versions(*, as_json: bool) -> None:
    """Print the versions of blankets, Python and the packages that it uses."""
    import platform

    from blankets import __version__

    found: dict[str, str | None] = {
        "blankets": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    found["kernels"] = "compiled" if kernels_in_use() else "not compiled: slow"
    found |= {package: version_of(package) for package in (*_NEEDED, *_OPTIONAL)}
    if as_json:
        show_json(found)
        return
    width = max(map(len, found))
    for name, version in found.items():
        click.echo(f"{name:<{width}}  {version or 'not installed'}")


def kernels_in_use() -> bool:
    """Tell whether the compiled kernels answer, without the warning if they do not."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from blankets.kernels import COMPILED

    return COMPILED


def version_of(package: str) -> str | None:
    """Return the version of an installed package."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
