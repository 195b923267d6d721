"""Only negatives are labeled: nothing is swapped in silence."""

import numpy as np
import pytest

import blankets as bl
from blankets.errors import LabelError

N = 40_000


def table(seed=0):
    """One feature, a fifth of the rows positive, and half of the negatives labeled."""
    rng = np.random.default_rng(seed)
    y = rng.random(N) < 0.2
    x = rng.random(N) < np.where(y, 0.6, 0.3)
    labeled = ~y & (rng.random(N) < 0.5)
    return x.astype(int), labeled


def truth():
    """Return the information of the feature in nats."""
    joint = np.array([[0.8 * 0.7, 0.8 * 0.3], [0.2 * 0.4, 0.2 * 0.6]])
    return float(np.sum(joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))))


@pytest.mark.parametrize("labels", ["pu", "auto"])
@pytest.mark.parametrize("no", [0, False, "no", "not ill"])
def test_labels_that_all_say_no_are_asked_about(no, labels):
    x, labeled = table()
    y = [no if known else None for known in labeled]
    with pytest.raises(LabelError, match="rows are negative or unlabeled"):
        bl.test({"x": x, "y": y}, "x", "y", labels=labels)


def test_with_positive_the_prior_is_that_of_the_labeled_class():
    x, labeled = table()
    y = [0 if known else None for known in labeled]
    found = bl.mutual_information({"x": x, "y": y}, "x", "y", labels="pu", positive=0, prior=0.8)
    low, high = found.interval(0.999)
    assert low < truth() < high
    assert high - low < truth()  # so that the swapped prior would be seen
    with pytest.raises(LabelError, match=r"p\(y=1\) is said to be 0.2"):  # that of the other class
        bl.mutual_information({"x": x, "y": y}, "x", "y", labels="pu", positive=0, prior=0.2)


def test_in_a_full_column_the_other_class_is_then_unlabeled():
    x, labeled = table()
    holes = bl.test({"x": x, "y": [0 if known else None for known in labeled]}, "x", "y", labels="pu", positive=0)
    full = bl.test({"x": x, "y": [0 if known else 1 for known in labeled]}, "x", "y", labels="pu", positive=0)
    assert full.log_p == holes.log_p
