"""Whole searches of tables with holes: their members are those of a plain search whose tests use complete rows."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from tests.count_twins import g_test

import blankets as bl
from blankets import study
from blankets.simulate import random_dag, random_network

ALPHA = 0.01


def plain_iamb(table, arities, y, how):
    """Return the blanket by IAMB as in its paper; a test uses the rows that pandas keeps, as R's bnlearn does."""

    def log_p(x, given):
        rows = table.dropna(subset=[x, y, *given]).fillna(0).to_numpy(np.int64)
        statistic, _ = g_test(rows, arities, x, y, given, how)
        return chi2.logsf(statistic, (arities[x] - 1) * (arities[y] - 1) * math.prod(arities[z] for z in given))

    members = []
    while others := [x for x in table.columns if x != y and x not in members]:
        weakest, best = min((log_p(x, members), x) for x in others)
        if weakest > math.log(ALPHA):
            break
        members.append(best)
    for x in list(members):
        if log_p(x, [z for z in members if z != x]) > math.log(ALPHA):
            members.remove(x)
    return set(members)


@pytest.mark.parametrize(("kind", "how"), [("g", "log-likelihood"), ("x2", "pearson")])
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_members_are_those_of_a_plain_search(share, kind, how):
    network = random_network(random_dag(8, rng=3, mean_degree=3), arities=3, rng=3)
    frame = network.sample(1500, 3)
    codes = np.column_stack([frame.column(j) for j in range(8)]).astype(float)
    codes[np.random.default_rng(3).random(codes.shape) < share] = np.nan
    named = pd.DataFrame(codes, columns=frame.names)
    asked = study.Testing(kind, dof="nominal", reliability=0.0)
    found = bl.discover_all(named, algorithm="iamb", test=asked, alpha=ALPHA, close=False, n_jobs=1)
    plain = [plain_iamb(pd.DataFrame(codes), [3] * 8, y, how) for y in range(8)]
    assert [set(found[name].members) for name in frame.names] == [{frame.names[x] for x in one} for one in plain]
    assert sum(map(len, plain)) > 8
