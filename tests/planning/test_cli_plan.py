"""``blankets plan`` prints the published numbers."""

import json

import pytest
from click.testing import CliRunner

from blankets.cli._plan import plan
from blankets.errors import ParameterError


def run(arguments):
    result = CliRunner().invoke(plan, arguments.split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_example_of_the_documentation():
    # Table 7.2 of the thesis
    output = run("--effect 0.045 --power 0.95 --alpha 0.01 --labels pu --prior 0.2 --rows 3000")
    assert output.startswith("Labeled positives needed: 49.\n")


def test_rows_and_words():
    assert run("--effect medium --power 0.95").startswith("Rows needed: 198.\n")


def test_json():
    content = json.loads(run("--effect 0.053 --power 0.99 --labels pu --prior 0.2 --labeled 0.05 --json"))
    assert (content["answer"], content["unknown"]) == (1077, "rows")


def test_a_table():
    # Table 7.3a of the thesis
    lines = run("--effect small,medium,large --power 0.9,0.95 --arity 10").splitlines()
    assert [line.split()[1:] for line in lines[2:]] == [["2613", "291", "105"], ["3031", "337", "122"]]
    table = json.loads(run("--effect small,medium --power 0.9 --arity 10 --json"))
    assert [cell["answer"] for cell in table["cells"]] == [2613, 291]


def test_solving_for_alpha():
    assert run("--effect medium --power 0.95 --rows 198 --alpha solve").startswith("Smallest level: 0.00")


def test_labels_of_both_classes():
    content = json.loads(
        run(
            "--effect medium --rows 2000 --labels mar-c --prior 0.3 "
            "--labeled positives=0.05 --labeled negatives=0.02 --json"
        )
    )
    assert content["kappa"] == pytest.approx(0.7 / 0.3 * 0.05 / 0.95)
    assert [a["surrogate"] for a in content["alternatives"]] == ["y1", "listwise", "ym"]


def test_a_seeded_range_of_the_prior():
    arguments = "--effect medium --power 0.9 --rows 2000 --labels pu --prior 0.1-0.3 --seed 1"
    assert run(arguments) == run(arguments)
    assert "enough with probability 0.9 over the prior" in run(arguments)


def test_a_number_of_labels():
    content = json.loads(run("--effect medium --rows 1000 --labels pu --prior 0.2 --labeled 54 --json"))
    assert content["labeled_share"] == pytest.approx(0.054)


def test_errors_are_the_librarys_own():
    with pytest.raises(ParameterError, match="unknown effect size 'tiny'"):
        run("--effect tiny --power 0.9")


def test_positives_collected_apart():
    content = json.loads(
        run("--effect medium --rows 400 --labels pu --prior 0.1 --sampling case-control --labeled 0.25 --json")
    )
    assert content["kappa"] == pytest.approx(9 * 0.25 * 0.75)


def test_groups_and_gaps():
    assert run("--effect 0.053 --power 0.99 --design-effect 11,0.1").startswith("Rows needed: 454.\n")
    assert run("--effect 0.053 --power 0.99 --design-effect 1.6 --missing 0.2").startswith("Rows needed: 454.\n")
