"""Batches of evidence: tests replaced by others."""

from __future__ import annotations

import numpy as np
import pytest

from blankets.independence import EvidenceBatch


def batch(statistic: list[float], n_rows: int | list[int]) -> EvidenceBatch:
    size = len(statistic)
    rows = n_rows if isinstance(n_rows, int) else np.array(n_rows)
    return EvidenceBatch(
        np.arange(size) + 5,
        0,
        (),
        statistic=np.array(statistic),
        dof=np.ones(size),
        n_rows=rows,
        reliable=np.ones(size, np.bool_),
    )


@pytest.mark.parametrize(("before", "after"), [(100, 100), (100, [40]), ([100, 80, 60], [40]), ([100, 80, 60], 40)])
def test_a_replaced_test_brings_its_own_rows_and_effect(before, after):
    """With holes every test has rows of its own: information is statistic / (2 rows) of those."""
    old, new = batch([2.0, 4.0, 6.0], before), batch([8.0], after)
    new.given = [(3, 4)]
    old._asked = ()
    replaced = old.where(np.arange(3))
    replaced.put(np.array([1]), new)
    rows = [100, 80, 60] if isinstance(before, list) else [100, 100, 100]
    rows[1] = after[0] if isinstance(after, list) else after
    assert [e.n_rows for e in replaced] == rows
    assert [e.effect for e in replaced] == pytest.approx([2.0 / 2 / rows[0], 8.0 / 2 / rows[1], 6.0 / 2 / rows[2]])
    assert [e.given for e in replaced] == [(), (3, 4), ()]
    assert [e.statistic for e in old] == [2.0, 4.0, 6.0]
    assert replaced.asked is None  # each test has its own set
