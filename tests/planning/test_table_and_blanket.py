"""Tables as data frames, and planning for all members of a blanket together."""

import json
import math
import time

import numpy as np
import pytest
from scipy import stats

from blankets.errors import MissingPackageError, ParameterError
from blankets.planning import plan, plan_blanket, planning_table


def scipy_power(n, effect, kappa=1.0, dof=1, alpha=0.01):
    return stats.ncx2.sf(stats.chi2.isf(alpha, dof), dof, 2 * kappa * n * effect)


@pytest.fixture(scope="module")
def table():
    question = {"alpha": 0.01, "arity": 2, "rows": 1300, "labels": "pu", "prior": 0.2}
    return planning_table(power=(0.7, 0.99), effect=("small", "large"), **question)


class TestTable:
    def test_out_of_reach_is_nan(self, table):
        assert np.isnan(table.answers[1, 0])  # 2404 rows are needed with full labels (Table 7.1a)
        assert np.isfinite(table.answers[0]).all()

    def test_printed(self, table):
        lines = repr(table).splitlines()
        assert lines[0] == "Labeled positives needed (power × effect):"
        assert lines[1].split("  ") == ["power", "effect small", "effect large"]
        assert lines[3].split()[:2] == ["0.99", "-"]

    def test_to_frame(self, table):
        wide = table.to_frame()
        assert wide.columns.tolist() == ["small", "large"]
        assert wide.index.tolist() == [0.7, 0.99]
        assert wide.loc[0.7, "large"] == table.answers[0, 1]
        assert wide["small"].isna().tolist() == [False, True]
        tidy = table.to_frame(tidy=True)
        assert tidy.columns.tolist() == ["power", "effect", "answer", "attained_power", "kappa"]
        assert str(tidy["answer"].dtype) == "Int64"

    def test_to_dict_is_json(self, table):
        content = json.loads(json.dumps(table.to_dict(), allow_nan=False))
        assert (content["schema"], content["schema_version"]) == ("blankets/planning-table", 1)
        assert content["axes"] == {"power": [0.7, 0.99], "effect": ["small", "large"]}
        assert content["cells"][2]["answer"] is None

    def test_html_is_escaped(self):
        html = planning_table(power=[0.8], effect=["small"], priors=["<0.3"], rows=9000, labels="pu")._repr_html_()
        assert "<td>&lt;0.3</td>" in html
        assert "<th>effect small</th>" in html

    def test_any_argument_may_vary(self):
        table = planning_table(rows=[100, 200], alpha=[0.01, 0.05], effect="medium")
        expected = [[scipy_power(n, 0.045, alpha=alpha) for alpha in (0.01, 0.05)] for n in (100, 200)]
        np.testing.assert_allclose(table.answers, expected)
        assert list(table.axes) == ["rows", "alpha"]
        one = planning_table(power=[0.8, 0.9], effect="medium")
        assert one.answers.tolist() == [130, 166]  # Table 7.1a
        assert one.to_frame()["answer"].tolist() == [130, 166]

    def test_priors_vary_by_their_own_name(self):
        table = planning_table(priors=[0.1, 0.2, 0.3], effect="medium", power=0.9, rows=3000, labels="pu")
        assert table.answers.tolist() == [
            plan(effect="medium", power=0.9, rows=3000, labels="pu", prior=p).answer for p in (0.1, 0.2, 0.3)
        ]
        assert (np.diff(table.answers) > 0).all()

    def test_refusals(self):
        with pytest.raises(ParameterError, match="nothing varies: give a list"):
            planning_table(effect="small", power=0.9)
        with pytest.raises(ParameterError, match="'power' is an empty list"):
            planning_table(effect="small", power=[])

    def test_without_pandas(self, table, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "pandas", None)
        with pytest.raises(MissingPackageError, match="a planning table as a data frame needs the package 'pandas'"):
            table.to_frame()


def test_a_table_takes_well_under_a_second():
    question = {"power": [0.7, 0.8, 0.9, 0.95, 0.99], "effect": ["small", "medium", "large"], "labeled": 0.05}
    times = []
    for _ in range(3):
        start = time.process_time()
        planning_table(labels="pu", prior=0.2, **question)
        times.append(time.process_time() - start)
    assert min(times) < 0.5


class TestBlanket:
    EFFECTS = (0.01, 0.02, 0.045)

    def test_probability_that_all_are_found(self):
        found = plan_blanket(effects=self.EFFECTS, rows=900, arity=[2, 3, 2], alpha=0.01)
        # Each given the other two: strata 3*2, 2*2, 2*3.
        each = [scipy_power(900, e, dof=d) for e, d in zip(self.EFFECTS, (6, 8, 6), strict=True)]
        np.testing.assert_allclose(found.member_powers, each)
        assert found.answer == found.power == pytest.approx(math.prod(each))
        assert found.lower_bound == pytest.approx(1 - sum(1 - p for p in each))
        assert found.dof == (6.0, 8.0, 6.0)
        assert found.noncentrality == pytest.approx([2 * 900 * e for e in self.EFFECTS])

    @pytest.mark.parametrize("decisions", ["independent", "worst-case"])
    def test_rows_for_a_goal(self, decisions):
        def together(n):
            each = np.array([scipy_power(n, e, dof=d) for e, d in zip(self.EFFECTS, (1, 2, 4), strict=True)])
            return each.prod() if decisions == "independent" else 1 - (1 - each).sum()

        expected = next(n for n in range(2, 5000) if together(n) >= 0.9)
        found = plan_blanket(effects=self.EFFECTS, power=0.9, conditioning=[0, 1, 2], alpha=0.01, decisions=decisions)
        assert found.answer == expected
        assert found.decisions == decisions
        assert found.power == pytest.approx(together(expected))

    def test_labels_for_a_goal(self):
        def together(labels):
            kappa = 0.8 / 0.2 * (labels / 8000) / (1 - labels / 8000)
            return math.prod(scipy_power(8000, e, kappa, dof=4) for e in self.EFFECTS)

        found = plan_blanket(effects=self.EFFECTS, power=0.9, rows=8000, dof=4, labels="pu", prior=0.2)
        assert found.answer == next(n for n in range(1, 1601) if together(n) >= 0.9)

    def test_a_blanket_of_one_is_a_single_test(self):
        assert plan_blanket(effects=["medium"], power=0.95).answer == plan(effect="medium", power=0.95).answer == 198

    def test_the_bound_holds_and_is_close(self):
        """Two members tested in the same simulated rows: found together at least as often as the bound says."""
        rng = np.random.default_rng(5)
        n, draws, joint = 400, 4000, np.zeros((2, 2, 2))
        for y, a, b in np.ndindex(2, 2, 2):
            joint[y, a, b] = 0.5 * (0.6 if a == y else 0.4) * (0.58 if b == y else 0.42)
        counts = rng.multinomial(n, joint.ravel(), size=draws).reshape(draws, 2, 2, 2)
        found = np.ones(draws, bool)
        effects = []
        for axis in (2, 3):  # the test of one given the other
            p = np.moveaxis(joint, axis - 1, 1)
            cond = p / p.sum((0, 1)) / (p.sum(0) / p.sum((0, 1))) / (p.sum(1, keepdims=True) / p.sum((0, 1)))
            effects.append(float((p * np.log(cond)).sum()))
            t = np.moveaxis(counts, axis, 2)  # y, tested, stratum
            e = t.sum(1, keepdims=True) * t.sum(2, keepdims=True) / t.sum((1, 2), keepdims=True)
            g = 2 * (t * np.log(np.where(t > 0, t, 1) / e)).sum((1, 2, 3))
            found &= g > stats.chi2.isf(0.05, 2)
        planned = plan_blanket(effects=effects, rows=n, alpha=0.05)
        error = 4 * math.sqrt(0.25 / draws) + 0.01  # sampling, and the limit of weak effects
        assert found.mean() == pytest.approx(planned.power, abs=error)
        assert found.mean() >= planned.lower_bound - error

    def test_reads_like_a_protocol(self):
        text = repr(plan_blanket(effects=self.EFFECTS, power=0.9, labels="pu", prior=0.2, labeled=0.05))
        assert "all 3 members of the blanket are found with probability 0.9" in text
        assert "assumes that these decisions are independent" in text
        assert "it holds for a conditional test only where" in text

    def test_out_of_reach(self):
        found = plan_blanket(effects=self.EFFECTS, power=0.99, rows=300, labels="pu", prior=0.2)
        assert not found.reachable
        assert found.needed_kappa is None
        assert found.n_labeled == 60

    @pytest.mark.parametrize(
        ("question", "message"),
        [
            ({"effects": []}, "'effects' must be a list with one value for each member"),
            ({"effects": "small"}, "'effects' must be a list"),
            ({"effects": [0.1, "huge"]}, "unknown effect size 'huge'"),
            ({"effects": [0.1, None]}, "'effects' must be"),
            ({"effects": [0.1, 0.9]}, "'effect' must be at most 0.6931 nats"),
            ({"effects": [0.1, 0.1], "arity": [2, 2, 2]}, "'arity' has 3 values for 2 members"),
            ({"effects": [0.1, 0.1], "arity": [2, 1]}, "'arity' must be a whole number of at least 2"),
            ({"effects": [0.1], "dof": 1, "conditioning": 1}, "give 'conditioning' or 'dof', not both"),
            ({"effects": [0.1], "decisions": "lucky"}, "unknown value of 'decisions' 'lucky'"),
            ({"effects": [0.1], "rows": 10}, "nothing is left to solve for: 'power', 'rows' are all given"),
            ({"effects": [0.1], "alpha": None}, "'alpha' must be"),
        ],
    )
    def test_refusals(self, question, message):
        with pytest.raises(ParameterError, match=message):
            plan_blanket(**{"power": 0.9, **question})
