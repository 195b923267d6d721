"""Checks of scikit-learn that fail for a fault of its own, as `parametrize_with_checks` wants to know them."""

import sklearn
from packaging.version import Version
from sklearn.utils import get_tags


def own_faults(estimator):
    """Return the check that subtracts a mean from whole numbers in place: up to 1.7.1, where there are categories."""
    tags = get_tags(estimator).input_tags
    whole = tags.categorical and not tags.allow_nan
    at_fault = whole and Version(sklearn.__version__) < Version("1.7.2")
    return {"check_positive_only_tag_during_fit": "a mean of whole numbers is no whole number"} if at_fault else {}
