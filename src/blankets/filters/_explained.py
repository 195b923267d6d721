"""Terms of criteria without cutting: what functions of columns explain, in nats (methods, section 10.6)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from blankets.errors import NotAnswerableError
from blankets.filters._source import Columns, Floats, InformationSource
from blankets.independence import QuickTests, SeenQuick
from blankets.voice import option

_MOST = 1.0 - 1e-12


class ExplainedInformation(InformationSource):
    """Information from inner products of functions of columns.

    ``tests``: with the target, or its surrogate, as a column. ``target``: its number. ``background``: tests of features
    among themselves, if ``tests`` have only some of the rows. ``kappa``: the share of the target's R² that a surrogate
    of two classes keeps, methods (10.13). ``always``: columns that every term with the target is given.

    Examples
    --------
    >>> from blankets.data import ingest
    >>> rng = np.random.default_rng(0)
    >>> a, b, noise = rng.normal(size=(3, 1000))
    >>> frame = ingest({"a": a, "copy": a + 0.1 * noise, "b": b, "y": a + 0.5 * b}, numbers=True).frame
    >>> source = ExplainedInformation(SeenQuick(frame), 3)
    >>> bool(source.redundancy(np.array([1]), 0)[0] > 2), bool(source.redundancy(np.array([2]), 0)[0] < 0.01)
    (True, True)
    """

    def __init__(
        self,
        tests: QuickTests | SeenQuick,
        target: int,
        background: QuickTests | SeenQuick | None = None,
        *,
        kappa: float = 1.0,
        always: Sequence[int] = (),
    ) -> None:
        super().__init__(len(tests.names), target)
        self.tests, self.background = tests, tests if background is None else background
        self.kappa, self.always = kappa, tuple(always)

    def conditional(self, xs: Columns, given: Sequence[int] = ()) -> Floats:
        """Return I(X;Y|Z) of each candidate."""
        told = self.tests.information(xs, self.target, (*given, *self.always))
        if self.kappa == 1.0:
            return told
        before = sum(
            (float(self.tests.information([z], self.target, given[:k])[0]) for k, z in enumerate(given)), start=0.0
        )
        return np.asarray(self._of_target(told + before) - self._of_target(np.array(before)))

    def redundancy(self, xs: Columns, j: int) -> Floats:
        """Return how much Xj tells about each candidate."""
        return self.background.information(xs, j, about_xs=True)

    def pair_entropy(self, xs: Columns, j: int) -> Floats:
        """Refuse: a number has no entropy that could be compared with that of a category."""
        raise NotAnswerableError(
            f"criterion 'disr' divides by an entropy, which numbers do not have; cut them with "
            f"{option(discretize='sturges')}, or "
            "choose 'jmi'"
        )

    def class_entropy(self, xs: Columns, j: int) -> Floats:
        """Refuse, as `pair_entropy`."""
        return self.pair_entropy(xs, j)

    def _of_target(self, told: Floats) -> Floats:
        """Return the information about the target, from that about its surrogate: R² is larger by 1/κ."""
        share = np.minimum(-np.expm1(-2.0 * told) / self.kappa, _MOST)
        return np.asarray(-np.log1p(-share) / 2.0)
