"""A search for the members alone finds those of the whole answer, and keeps no table."""

import gc
import weakref

import numpy as np
import pytest

import blankets as bl
from blankets import kernels
from blankets.data import Frame
from blankets.study import Search, Wanted, open_study


def network(seed, n=None):
    """Return a table of a random network: some columns have two parents, levels may be rare."""
    rng = np.random.default_rng(seed)
    n, k = n or int(rng.choice([60, 300, 900])), int(rng.integers(5, 9))
    columns = []
    for j in range(k):
        a = int(rng.integers(2, 4))
        parents = rng.choice(j, min(j, int(rng.integers(0, 3))), replace=False)
        shift = sum((columns[p] for p in parents), np.zeros(n, int))
        noise = rng.binomial(a - 1, rng.choice([0.1, 0.5]), n)
        columns.append(np.where(rng.random(n) < 0.5, (shift + noise) % a, noise))
    return Frame.from_codes(np.column_stack(columns))


@pytest.mark.parametrize("algorithm", ["auto", "pcmb", "mmmb", "iamb"])
@pytest.mark.parametrize("close", [True, False])
def test_members_alone_are_those_of_the_whole_answer(algorithm, close):
    wanted = Wanted.of(algorithm, None, 0.01, close=close)
    for seed in range(12 if kernels.COMPILED else 3):
        frame = network(seed, 900)
        for target in frame.names:
            with open_study(frame, target, n_jobs=1) as study:
                brief = Search.of(study, wanted).members_of(study.target)
                whole = Search.of(study, wanted).blanket_of(study.target).members
            assert set(brief) == set(whole)


@pytest.mark.filterwarnings("ignore::blankets.errors.KnowledgeWarning")
def test_what_is_known_counts_in_draws_too():
    frame = network(3, 900)
    knowledge = bl.Knowledge(required=[frame.names[2]])
    found = bl.stability(frame, frame.names[0], n_resamples=3, knowledge=knowledge, rng=0)
    assert found[frame.names[2]] == 1.0


@pytest.mark.parametrize("how", [{}, {"test": "g"}])
def test_a_table_is_not_kept_in_memory_by_what_was_asked_of_it(how):
    frame = network(3, 900)
    codes = weakref.ref(frame.blocks[0].codes)
    bl.discover(frame, frame.names[0], n_jobs=1, **how)
    del frame
    gc.collect()
    assert codes() is None
