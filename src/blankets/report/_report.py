"""`report`: one file about one blanket, to read and to send by mail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from blankets.errors import ParameterError, guarded
from blankets.records import write_whole
from blankets.report._content import report_content
from blankets.report._page import report_page
from blankets.report._start import start_of

if TYPE_CHECKING:
    from blankets.latent import LatentBlanket
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

    ``blanket``: the result. ``path``: the file to write. ``source``: where the data are, for the command that
    reproduces the result. ``stability``: for each column the share of resamples in which it was a member.
    ``sensitivity``: members under other values of the class prior. ``latent``: latent members of the same target, from
    `discover_latent`. ``planner``: whether the page ends with a planner with the numbers of this study.

    Examples
    --------
    >>> import tempfile
    >>> from blankets.results import Blanket, NamedEvidence
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
