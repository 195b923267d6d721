"""Interim: correction factors, until the room of regimes is there."""

from __future__ import annotations

import numpy as np

from blankets.planning._setting import Floats


def kappa_y0(share: Floats, prior: Floats) -> Floats:
    return np.asarray((1 - prior) / prior * share / (1 - share))


def kappa_y1(share: Floats, prior: Floats) -> Floats:
    return kappa_y0(share, 1 - prior)


def kappa_case_control(share: Floats, prior: Floats) -> Floats:
    return np.asarray((1 - prior) / prior * share * (1 - share))


def kappa_mcar_y0(share: Floats, prior: Floats) -> Floats:
    return np.asarray(share * (1 - prior) / (1 - prior * share))


def kappa_mcar_y1(share: Floats, prior: Floats) -> Floats:
    return kappa_mcar_y0(share, 1 - prior)
