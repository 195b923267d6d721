"""``blankets versions``: what to put into a bug report."""

from __future__ import annotations

import click

from blankets.cli._arguments import json_option
from blankets.cli._output import show_json

_NEEDED = ("numpy", "scipy", "narwhals", "scikit-learn", "networkx", "click", "rich")
_OPTIONAL = ("pyarrow", "matplotlib", "pandas", "polars")


@click.command()
@json_option
def versions(*, as_json: bool) -> None:
    """Print the versions of blankets, Python and the packages that it uses."""
    import platform
    import warnings

    from blankets import __version__

    found: dict[str, str | None] = {
        "blankets": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the line below says the same
        from blankets.kernels import COMPILED

    found["kernels"] = "compiled" if COMPILED else "not compiled: slow"
    found |= {package: _version(package) for package in (*_NEEDED, *_OPTIONAL)}
    if as_json:
        show_json(found)
        return
    width = max(map(len, found))
    for name, version in found.items():
        click.echo(f"{name:<{width}}  {version or 'not installed'}")


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
