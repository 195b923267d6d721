"""Slow, obvious twins for the search tests: G tests by SciPy, AlgorithmPCD line by line."""

import math
from itertools import chain, combinations

import numpy as np
from scipy.stats import chi2, power_divergence

from blankets.independence import EvidenceBatch, IndependenceTest


def sample(seed, n_rows=400):
    """Rows from a random network of seven variables with two or three levels and middling effects."""
    rng = np.random.default_rng(seed)
    n = 7
    arities = rng.integers(2, 4, n)
    data = np.zeros((n_rows, n), int)
    for j in range(n):
        parents = [i for i in range(j) if rng.random() < 0.45][-3:]
        strata = data[:, parents] @ np.cumprod([1, *arities[parents]])[:-1] if parents else np.zeros(n_rows, int)
        table = rng.dirichlet(np.full(arities[j], 1.2), size=3 ** len(parents))
        cumulative = table[strata].cumsum(axis=1)
        data[:, j] = (rng.random((n_rows, 1)) > cumulative[:, :-1]).sum(axis=1)
    return data[:, rng.permutation(n)]


def g_test(data, x, y, given):
    """Statistic and adjusted degrees of freedom of the G test, one stratum at a time, by SciPy."""
    statistic, dof = 0.0, 0
    strata = np.unique(data[:, given], axis=0, return_inverse=True)[1].ravel() if given else np.zeros(len(data), int)
    for stratum in np.unique(strata):
        rows = data[strata == stratum]
        table = np.array(
            [
                [np.sum((rows[:, x] == a) & (rows[:, y] == b)) for b in np.unique(rows[:, y])]
                for a in np.unique(rows[:, x])
            ]
        )
        if min(table.shape) > 1:
            expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
            statistic += power_divergence(table.ravel(), expected.ravel(), lambda_="log-likelihood").statistic
            dof += (table.shape[0] - 1) * (table.shape[1] - 1)
    return statistic, dof


class NaiveTests(IndependenceTest):
    """The G test above behind the contract, with the rule of five rows for each nominal degree of freedom."""

    def __init__(self, data, reliability=5.0):
        self.data, self.reliability = data, reliability
        self.names = tuple(f"x{j}" for j in range(data.shape[1]))
        self.arities = [len(np.unique(column)) for column in data.T]
        self.n_tests, self.memo, self.known = 0, {}, {}

    def one(self, x, y, given):
        """Return (statistic, dof, log p), or None if there are too few rows."""
        key = (frozenset((x, y)), frozenset(given))
        if key not in self.known:
            nominal = (self.arities[x] - 1) * (self.arities[y] - 1) * math.prod(self.arities[z] for z in given)
            if len(self.data) < self.reliability * nominal:
                self.known[key] = None
            else:
                statistic, dof = g_test(self.data, min(x, y), max(x, y), sorted(given))
                self.known[key] = (statistic, dof, float(chi2.logsf(statistic, dof)) if dof else 0.0)
        return self.known[key]

    def scan(self, xs, y, given=(), *, even_if_unreliable=False):
        answers = [self.one(x, y, given) for x in xs]
        self.n_tests += sum(a is not None for a in answers)
        statistic, dof, log_p = (np.array([math.nan if a is None else a[k] for a in answers], float) for k in range(3))
        return EvidenceBatch(
            np.array(xs, np.int64),
            y,
            tuple(given),
            statistic=statistic,
            dof=dof,
            n_rows=len(self.data),
            reliable=np.array([a is not None for a in answers], bool),
            log_p=log_p,
        )


def pcd(tests, target, candidates, alpha):
    """AlgorithmPCD as printed, everything recomputed in every round.

    Returns the members, the separating set of each variable that was dropped or removed, and how often a
    member was removed.
    """
    dep = {}  # variable: (weakest evidence, its set)
    members, separators, removals = [], {}, 0
    open_ = list(candidates)

    def weakest(x, among):
        best = None
        for z in chain.from_iterable(combinations(among, k) for k in range(len(among) + 1)):
            answer = tests.one(x, target, z)
            if answer is not None:
                strength = (-answer[2], answer[0])  # larger is stronger
                if best is None or strength < best[0]:
                    best = (strength, z)
        return best

    def independent(x):
        return dep[x] is not None and -dep[x][0][0] > math.log(alpha)

    while True:
        before = list(members)
        for x in open_:
            dep[x] = weakest(x, members)
        for x in list(open_):
            if independent(x):
                open_.remove(x)
                separators[x] = dep[x][1]
        testable = [x for x in open_ if dep[x] is not None]
        if testable:
            best = max(testable, key=lambda x: (*dep[x][0], -x))
            members.append(best)
            open_.remove(best)
        for x in members:
            dep[x] = weakest(x, [z for z in members if z != x])
        for x in list(members):
            if independent(x):
                members.remove(x)
                separators[x] = dep[x][1]
                removals += 1
        if members == before:
            return members, separators, removals
