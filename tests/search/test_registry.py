"""The registry: names, options, and the rule behind ``algorithm="auto"``."""

from pathlib import Path

import pytest

import blankets.search
from blankets.errors import ParameterError
from blankets.search import ALGORITHMS, check_options, choose, find


def test_what_the_issue_asks_for_is_there():
    wanted = {
        *("ks", "gs", "iamb", "inter-iamb", "iamb-n-pc", "inter-iamb-n-pc", "pc", "mmpc", "mmmb"),
        *("hiton-pc", "hiton-mb", "pcmb", "fast-iamb", "iamb-fdr", "fbed", "ipc-mb", "stmb", "bamb"),
        *("eemb", "mbor", "kiamb", "fbed-fdr", "mmpc-fdr", "hiton-pc-fdr"),
    }
    assert wanted <= set(ALGORITHMS)


def test_a_name_is_registered_once():
    folder = Path(blankets.search.__file__).parent
    files = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    modules = [getattr(blankets.search, name) for name in files]
    listed = [algorithm.name for module in modules for algorithm in getattr(module, "ALGORITHMS", ())]
    assert sorted(listed) == list(ALGORITHMS)


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_every_entry_is_complete(algorithm):
    assert algorithm.name == algorithm.name.lower()
    assert "_" not in algorithm.name
    assert any(f"({year})" in algorithm.reference for year in range(1990, 2027))
    assert algorithm.when.endswith(".")
    assert "alpha" not in algorithm.options


@pytest.mark.parametrize("name", ["inter-iamb", "INTER_IAMB", "Inter IAMB", " inter-iamb "])
def test_names_are_found_however_they_are_written(name):
    assert find(name).name == "inter-iamb"


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(ParameterError, match=r"unknown algorithm 'hitonm'; did you mean 'hiton-mb'\?.* choose from "):
        find("hitonm")


def test_an_unknown_option_names_the_known_ones():
    check_options(find("fbed"), {"k": 2})
    with pytest.raises(ParameterError, match=r"algorithm 'fbed' has no option 'runs'; it has k=1$"):
        check_options(find("fbed"), {"runs": 2})
    with pytest.raises(ParameterError, match=r"no option 'max_givn'; did you mean 'max_given'\? it has max_given=None"):
        check_options(find("pc"), {"max_givn": 2})
    with pytest.raises(ParameterError, match=r"algorithm 'iamb' has no option 'k'; it has none$"):
        check_options(find("iamb"), {"k": 2})


def test_auto_says_what_and_why():
    chosen, why = choose()
    assert ALGORITHMS[chosen].sound
    assert why == "of all searches it came nearest to the blankets of known networks."
