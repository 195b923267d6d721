"""`estimate_prior`: the share of positives in a table of positives and unlabeled rows."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from blankets.arguments import one_of
from blankets.data import ReadingOptions
from blankets.errors import DataError, guarded
from blankets.questions._question import described
from blankets.regimes import EstimatedPrior, PositiveUnlabeled, Regime, SemiSupervised, regime_name
from blankets.regimes import estimate_prior as estimate_from_codes
from blankets.stats import Sampling
from blankets.study import Engine, Seed, open_study


@described
@guarded
def estimate_prior(
    data: Any,
    target: str | int | None = None,
    *,
    y: ArrayLike | None = None,
    method: str = "auto",
    sampling: Sampling = "one-sample",
    n_resamples: int = 30,
    n_features: int = 30,
    labels: Regime | str = "auto",
    engine: Engine | str = "auto",
    n_jobs: int | None = None,
    rng: Seed = None,
    **reading: Unpack[ReadingOptions],
) -> EstimatedPrior:
    """Estimate an unknown p(y=1), the share of positives, from labeled and unlabeled rows.

    With labels of both classes, ``labels="mar-c"``, all rows are a mixture of two known kinds, and the estimate and its
    interval are right whatever the shares of labels. With positives alone, ``labels="pu"``, no method can do it without
    an assumption that the data cannot confirm; ``str()`` of the result says which one was made. Knowledge from
    elsewhere (a survey, the literature) is then better than any estimate.

    Parameters
    ----------
    method : {"auto", "roc", "tice", "elkan-noto", "mixture"}
        For positives alone: "roc" (the default) and "tice" assume that some recognizable group of rows is all positive,
        "elkan-noto" that every positive can be recognized. All of them tend to be too large, which is the safe side for
        planning. For labels of both classes: "mixture".
    sampling : {"one-sample", "case-control"}
        Whether the labeled rows are part of the sample or were collected separately.
    n_resamples : int
        Number of bootstrap resamples for the uncertainty.
    n_features : int
        Use only this many features: those with the most information about being labeled.

    Returns
    -------
    EstimatedPrior
        Give it as ``prior=`` to `discover`, `test`, `rank`, `plan` or `advise`: its uncertainty goes into
        κ, intervals and plans. This is the uncertainty of sampling only; it does not cover a false assumption. For
        ``labels="mar-c"`` and "pu" ``prior="estimate"`` does the same in one call.

    References
    ----------
    Bekker & Davis (2018), Estimating the class prior in positive and unlabeled data through decision tree
    induction, AAAI. Blanchard, Lee & Scott (2010), Semi-supervised novelty detection, JMLR 11. Elkan & Noto
    (2008), Learning classifiers from only positive and unlabeled data, KDD.

    Examples
    --------
    A fifth of the rows is positive; half of these have x = 2, which nobody else has; 30% are labeled.

    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(5_000) < 0.2
    >>> x = np.where(y & (rng.random(5_000) < 0.5), 2, rng.integers(0, 2, 5_000))
    >>> known = np.where(y & (rng.random(5_000) < 0.3), 1.0, np.nan)
    >>> prior = bl.estimate_prior({"x": x, "y": known}, "y", n_resamples=5, rng=1)
    >>> 0.17 < prior.value < 0.24
    True
    >>> str(prior)
    'about 0.2... (90% 0... to 0...), estimated by roc assuming that some recognizable group of rows is ...'
    """
    name = labels.name if isinstance(labels, Regime) else regime_name(labels)
    pu = one_of("labels", name, ("auto", "pu", "mar-c")) != "mar-c"
    regime = PositiveUnlabeled(sampling=sampling) if pu else SemiSupervised("mar-c")
    with open_study(data, target, y, reading=reading, labels=regime, engine=engine, n_jobs=n_jobs) as study:
        frame = study.complete_frame("estimate_prior")
        if not study.features:
            raise DataError(
                "no column but the target can be used, and it alone does not tell how many rows are positive"
            )
        codes = np.stack([frame.column(x) for x in study.features], axis=1).astype(np.int64)
        return estimate_from_codes(
            codes,
            study.labels,
            method=method,
            sampling=sampling,
            n_resamples=n_resamples,
            n_features=n_features,
            rng=rng,
        )
