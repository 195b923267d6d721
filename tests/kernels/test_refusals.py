"""Kernels refuse arrays that do not belong together, compiled and not: they would read outside of one of them."""

import numpy as np
import pytest

from kernels.test_kernels import BOTH, formula_of, table_of

I, F, CODES, COUNTS = np.int64, np.float64, np.uint8, np.int32
NONE, NO_GROUPS = np.empty(0, I), np.empty((0, 0), COUNTS)


def ints(*values):
    return np.array(values, I)


def small_table(k, below=0):
    return table_of(k, np.zeros((3, 70), CODES), ints(2, 2, 2), below)


def new_table(k, *, columns=2, codes=2, rows=5, planes=2, totals=2, holes=None):
    bits, sums = np.zeros((1, planes, 1), np.uint64), np.zeros(totals, COUNTS)
    return k.Table(np.zeros((codes, 5), CODES), ints(*[2] * columns), bits, sums, ints(-1, -1), rows, 0, 1, holes)


def of_tables(k, what, counts, shape):
    """Ask a kernel about one flat table, of counts that do not fit its shape or are none."""
    formula = k.Formula(ints(0, 0, 0), True, 0.0, False, False)
    more = {"permute": (formula, 9, 9, 0.0), "block_statistics": (formula,)}[what]
    return getattr(k, what)(np.array([counts], COUNTS), *shape, *more)


def tree(k, *, weights=4, position=NONE, groups=NO_GROUPS, n_groups=NONE):
    codes = np.zeros((2, 4), COUNTS)
    return k.score_tree(codes, ints(2, 2), np.ones(weights), 2, 0, 1.0, position, groups, n_groups)


def fitted(k, starts, rows):
    groups, weights = np.zeros((1, 2), COUNTS), np.ones(2)
    return k.fit_weights(groups, ints(1), ints(0), np.ones(1), ints(*starts), np.ones(rows), weights, np.ones(9), 0.1)


def sparse(k, *, size=2, codes=1):
    cells, out = np.zeros((1, 5), np.uint32), np.empty((1, size), COUNTS)
    return k.count_sparse(
        ints(0, 1), np.zeros(1, COUNTS), np.ones(codes, CODES), ints(0), cells, np.full(2, 2, COUNTS), out
    )


def bits(k):
    planes, totals = np.zeros((1, 2, 1), np.uint64), np.zeros(2, COUNTS)
    k.count_bits(planes, totals, 5, ints(0), ints(2), ints(1), ints(2), np.empty((1, 3), COUNTS))


def separated(k, n):
    k.separate_columns(
        small_table(k), formula_of(k, 70), ints(1, 2), 0, ints(1, 2), -1, 0.0, 1 << 20, k.Weakest(n, 0, 1)
    )


WRONG = [
    (bits, "tables do not fit the columns to count"),
    (lambda k: tree(k, weights=3), "every column has its levels, and every row its weight"),
    (lambda k: k.refine(np.zeros((1, 4), I), 1, np.zeros((1, 4), COUNTS), 2), "every row has a group and a code"),
    (lambda k: k.refine(np.full((2, 4), 3), 2, np.zeros((1, 4), COUNTS), 2), "groups are to be below 2"),
    (lambda k: tree(k, position=ints(0)), "there is no room for all sets"),
    (
        lambda k: tree(k, position=ints(0, 1, 2, 9), groups=np.zeros((3, 4), COUNTS), n_groups=ints(0, 0, 0)),
        "no such place for the groups of a set",
    ),
    (
        lambda k: k.expected_scores(NO_GROUPS, NONE, ints(-1, -1), ints(2), 1, np.ones(1), np.ones(1), 1.0),
        "every set has a static value",
    ),
    (lambda k: k.best_parents(np.ones(3), 2, ints(0, 0), ints(0, 0), 1, ints(0, 0)), "every set of nodes has a score"),
    (lambda k: fitted(k, [], 0), "there are no rows"),
    (lambda k: fitted(k, [0, 0, 2], 2), "every row has completions, and every set groups"),
    *(
        (lambda k, what=what, given=given: of_tables(k, what, *given), "this shape, or a count is negative")
        for what in ("permute", "block_statistics")
        for given in (([1, 1, 1], (2, 2, 1)), ([1, 1], (0, 2, 1)), ([1, 1, -1, 1], (2, 2, 1)))
    ),
    (lambda k: new_table(k, holes=np.zeros(3, CODES)), "every column has holes or not"),
    (lambda k: new_table(k, rows=6), "codes, levels and bits are to be of the same columns and rows"),
    (lambda k: new_table(k, totals=1), "every plane needs its total, and a bit for every row"),
    (lambda k: k.Formula(NONE, True, 0.0, False, False), "there are no terms"),
    (
        lambda k: k.join_codes(
            np.zeros((1, 5), np.uint32), 1, np.zeros((1, 4), CODES), 1, 4, np.zeros((1, 5), np.uint32)
        ),
        "joint codes need as many codes as rows",
    ),
    (
        lambda k: k.count_wide(np.zeros(4, COUNTS), np.zeros((1, 5), np.uint32), 1, np.zeros(2, COUNTS)),
        "the table does not fit the column to count",
    ),
    (lambda k: sparse(k, size=3), "tables do not fit the columns to count"),
    (lambda k: sparse(k, size=4, codes=2), "stored entries have a row and a code each"),
    (lambda k: separated(k, 1), "the evidence is about other candidates"),
    (
        lambda k: k.settle(*[np.ones(2)] * 2, np.ones(2, CODES), *[np.ones(1)] * 3, np.ones(2, CODES)),
        "its degrees of freedom",
    ),
    (
        lambda k: k.settle(*[np.ones(1)] * 2, np.ones(1, CODES), *[np.ones(1)] * 2, np.ones(2), np.ones(1, CODES)),
        "there is to be room for all answers",
    ),
    (
        lambda k: k.weaker_of(np.ones(2), np.ones(2), np.ones(2), np.ones(1), np.zeros(2, CODES)),
        "there are to be as many tests as others",
    ),
    *(
        (lambda k, of=of: k.fit_machine(np.ones(of[:2]), np.ones(of[2:4]), of[4]), "belongs to a whole stratum")
        for of in ((3, 4, 2, 4, 2), (4, 4, 1, 4, 2), (4, 4, 2, 3, 2), (4, 4, 2, 4, 3), (4, 4, 2, 4, 0))
    ),
    (lambda k: k.combined_tails(np.zeros(2), np.zeros(1)), "p-values are combined in pairs"),
    (
        lambda k: k.scan_functions(np.ones((1, 2)), np.ones((1, 2)), ints(2), ints(0, 1, 2), ints(1, 1), 0, 9),
        "inner products do not fit the columns",
    ),
    *(
        (
            lambda k, shape=shape: k.tested_functions(np.ones((2, 5)), np.ones(shape[0]), np.ones(shape[1:])),
            "functions need two rows",
        )
        for shape in ((8, 4, 5), (9, 3, 5), (9, 4, 6))
    ),
]


@BOTH
@pytest.mark.parametrize(("call", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_does_not_fit_is_refused(k, call, message):
    with pytest.raises((ValueError, IndexError), match=message):
        call(k)
