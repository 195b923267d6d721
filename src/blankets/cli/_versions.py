"""``blankets versions``: what to put into a bug report."""

from __future__ import annotations

import click

from blankets.cli._arguments import json_option
from blankets.cli._output import show_json

_NEEDED = ("numpy", "scipy", "scikit-learn", "networkx", "click", "rich")
_OPTIONAL = ("pyarrow", "matplotlib", "pandas", "polars")


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
