"""The grow-shrink family and PC on scripted tests: unreliable answers, cycles, options, reasons."""

import networkx as nx
import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from blankets.errors import ParameterError
from blankets.independence import DSeparation
from blankets.search import ALGORITHMS, Note, Trace, Trouble
from blankets.stats import adjusted_log_p
from search.graphs import Scripted, truth, varied_dag

ALPHA = 0.05
DEPENDENT, VERY = -10.0, -100.0  # log p-values
GROW_SHRINK = ["fast-iamb", "fbed", "fbed-fdr", "gs", "iamb", "iamb-fdr"]
GROW_SHRINK += ["iamb-n-pc", "inter-iamb", "inter-iamb-n-pc", "kiamb"]
FAMILY = [*GROW_SHRINK, "pc"]


def search(name, tests, target="T", trace=None, **options):
    """Names of the members found, in their order."""
    at = tests.names.index(target)
    others = [x for x in range(len(tests.names)) if x != at]
    if name == "kiamb":
        options = {"rng": 0, "k": 1.0} | options
    found = ALGORITHMS[name].run(tests, at, others, alpha=ALPHA, trace=trace or Trace(), **options)
    return "".join(tests.names[x] for x in found.members)


class TestUnreliable:
    """Errata F9: a test that was not performed neither admits nor removes."""

    @pytest.mark.parametrize("name", FAMILY)
    def test_never_admits(self, name):
        assert search(name, Scripted("TAB", {}, default=None)) == ""

    @pytest.mark.parametrize("name", FAMILY)
    def test_one_untestable_candidate_does_not_stop_the_others(self, name):
        tests = Scripted("TABC", {"TB|": VERY, "TB|C": VERY, "TC|": DEPENDENT, "TC|B": DEPENDENT}, default=0.0)
        tests.script |= {tests._key("TA", given): None for given in ("", "B", "C", "BC")}
        assert search(name, tests) == "BC"

    @pytest.mark.parametrize("name", FAMILY)
    def test_never_removes(self, name):
        # A and B enter; whether A is needed beside B cannot be tested, since B, of many levels, eats the rows.
        tests = Scripted("TAB", {"TA|": VERY, "TB|": DEPENDENT, "TB|A": DEPENDENT, "TA|B": None})
        tests.script[tests._key("AB", "")] = VERY
        assert sorted(search(name, tests)) == ["A", "B"]

    def test_fast_iamb_speculates_only_as_far_as_the_rows_go(self):
        every = {f"T{x}|{z}": VERY for x in "ABC" for z in ("", "A", "B", "C")}
        tests = Scripted("TABC", every, default=None)  # two conditioning variables are too many
        assert search("fast-iamb", tests) == "AB"

    def test_fast_iamb_goes_on_when_shrinking_has_made_room(self):
        every = {f"T{x}|{z}": VERY for x in "ABC" for z in ("", "A", "B", "C")}
        tests = Scripted("TABC", every | {"TA|B": 0.0}, default=None)
        assert search("fast-iamb", tests) == "BC"


class TestCycles:
    """A enters, B replaces it, C replaces B, and A replaces C: with three, tests can contradict each other."""

    @pytest.mark.parametrize("name", ["inter-iamb", "iamb-fdr"])
    def test_a_repeated_blanket_ends_the_search_and_is_reported(self, name):
        script = {"TA|": VERY, "TB|": DEPENDENT, "TC|": DEPENDENT, "TB|A": DEPENDENT, "TC|B": DEPENDENT}
        trace = Trace()
        assert search(name, Scripted("TABC", script | {"TA|C": DEPENDENT}), trace=trace) == "A"
        assert [note.trouble for note in trace.notes] == [Trouble.CYCLED]

    def test_fast_iamb_notices_too(self):
        script = {"TA|": VERY, "TB|A": VERY, "TA|B": 0.0, "TC|B": VERY, "TB|": VERY, "TB|C": 0.0, "TC|": VERY}
        script |= {"TA|C": VERY, "TC|A": 0.0, "TA|BC": VERY, "TB|AC": 0.0, "TC|AB": 0.0}
        trace = Trace()
        search("fast-iamb", Scripted("TABC", script), trace=trace)
        assert [note.trouble for note in trace.notes] == [Trouble.CYCLED]


class TestGrowShrink:
    GRAPH = nx.DiGraph({"P": ["N", "T"], "N": [], "T": ["C"]})  # errata F2

    def test_tries_the_next_candidate_when_one_fails(self):
        assert search("gs", DSeparation(self.GRAPH)) == "PC"

    def test_keeps_the_marginal_order(self):
        # C is stronger given A, but B comes first in the marginal order.
        script = {"TA|": VERY, "TB|": -50.0, "TC|": -20.0, "TB|A": -5.0, "TC|A": -90.0}
        tests = Scripted("TABC", script | {"TC|AB": VERY, "TA|BC": VERY, "TB|AC": VERY})
        assert search("gs", tests) == "ABC"
        assert search("iamb", tests) == "ACB"


class TestIamb:
    def test_by_information_an_insignificant_giant_does_not_end_the_growing(self):
        """Errata F1: the largest effect (many degrees of freedom) may be insignificant, another one not."""
        script = {"TA|": (-1.0, 500.0), "TB|": (DEPENDENT, 30.0), "TC|": (VERY, 20.0), "TC|B": (VERY, 20.0)}
        tests = Scripted("TABC", script | {"TB|C": (DEPENDENT, 30.0)}, default=(-1.0, 500.0), by_effect=True)
        assert search("iamb", tests) == "BC"

    def test_shrinks_in_the_order_of_entry(self):
        # Either of A and B makes the other one irrelevant once C is there: the one that entered first goes.
        script = {"TA|": VERY, "TB|A": VERY, "TC|AB": VERY, "TA|BC": 0.0, "TB|AC": 0.0}
        script |= {"TB|C": VERY, "TC|B": VERY, "TC|A": DEPENDENT}
        assert search("iamb", Scripted("TABC", script)) == "BC"

    def test_inter_iamb_conditions_on_less(self):
        script = {"TA|": VERY, "TB|": VERY, "TB|A": VERY, "TA|B": 0.0, "TC|B": VERY, "TB|C": VERY}
        tests = Scripted("TABCD", script | {"TD|AB": VERY})
        assert search("inter-iamb", tests) == "BC"
        assert "DT|AB" not in tests.asked  # A had left before D was looked at again
        assert "DT|B" in tests.asked


class TestFbed:
    COLLIDER = nx.DiGraph({"T": ["C"], "X": ["C"], "N": []})

    @pytest.mark.parametrize(("k", "members"), [(0, "C"), (1, "CX"), (None, "CX"), (5, "CX")])
    def test_a_second_run_brings_the_spouse(self, k, members):
        assert search("fbed", DSeparation(self.COLLIDER), k=k) == members

    def test_drops_early(self):
        tests = Scripted("TABC", {"TA|": VERY, "TB|": DEPENDENT, "TC|": 0.0, "TB|A": 0.0})
        assert search("fbed", tests, k=0) == "A"
        # C was dropped after the first scan, B after the second; then A given nothing, backwards.
        assert tests.asked == ["AT|", "BT|", "CT|", "BT|A", "AT|"]

    def test_removes_the_weakest_first(self):
        script = {"TA|": VERY, "TB|": VERY, "TC|": VERY, "TB|A": VERY, "TC|A": VERY, "TC|AB": VERY}
        script |= {"TA|BC": -0.5, "TB|AC": -0.1, "TA|C": VERY}  # without B, A is needed
        assert search("fbed", Scripted("TABC", script)) == "AC"

    def test_refuses_a_negative_number_of_runs(self):
        with pytest.raises(ParameterError, match=r"'k' must be 0, 1, 2, \.\.\. or None .*, but it is -1"):
            search("fbed", DSeparation(self.COLLIDER), k=-1)


class TestKiamb:
    FIVE = Scripted("TABCDE", {}, default=DEPENDENT)  # all depend, whatever is given; earlier columns first

    def test_greed_of_one_is_iamb(self):
        assert search("kiamb", self.FIVE, k=1.0) == search("iamb", self.FIVE) == "ABCDE"

    def test_no_greed_draws_uniformly(self):
        rng = np.random.default_rng(1)
        first = [search("kiamb", self.FIVE, k=0.0, rng=rng)[0] for _ in range(500)]
        # 100 each with a standard deviation of sqrt(500 * 0.2 * 0.8) = 8.9; five of them.
        assert all(abs(first.count(x) - 100) < 45 for x in "ABCDE")

    def test_half_greed_never_admits_the_weakest_first(self):
        rng = np.random.default_rng(2)
        first = {search("kiamb", self.FIVE, k=0.5, rng=rng)[0] for _ in range(200)}
        assert first == set("ABCD")  # the best of two out of five

    def test_the_same_seed_gives_the_same_answer(self):
        assert search("kiamb", self.FIVE, k=0.0, rng=7) == search("kiamb", self.FIVE, k=0.0, rng=7)

    def test_refuses_a_share_above_one(self):
        with pytest.raises(ParameterError, match=r"'k' must be a share between 0 and 1, but it is 2"):
            search("kiamb", self.FIVE, k=2)


class TestFalseDiscoveries:
    def test_adjusted_p_against_statsmodels(self):
        p = np.random.default_rng(3).beta(0.3, 1.0, size=200)
        expected = multipletests(p, method="fdr_by")[1]
        np.testing.assert_allclose(np.exp(adjusted_log_p(np.log(p))), expected, rtol=1e-12)

    def test_adjusted_p_of_nothing(self):
        assert adjusted_log_p(np.array([])).shape == (0,)

    def test_admits_less_than_iamb(self):
        # p = 0.03 among three tests: 0.03 * 3 * (1 + 1/2 + 1/3) = 0.165 > 0.05.
        tests = Scripted("TABC", {"TA|": np.log(0.03), "TA|B": np.log(0.03)})
        assert search("iamb", tests) == "A"
        assert search("iamb-fdr", tests) == ""

    def test_false_members_are_rare_among_many_candidates(self):
        """With 200 candidates that have nothing to do with the target, IAMB lets in some, FDR hardly ever."""
        names = ["T", *(f"x{i}" for i in range(200))]

        class Noise(Scripted):
            def scan(self, xs, y, given=(), *, even_if_unreliable=False):
                batch = super().scan(xs, y, given)
                batch._log_p = np.log(self.p[np.asarray(xs, int)])
                return batch

        rng, wrong = np.random.default_rng(4), 0
        for _ in range(200):
            tests = Noise(names, {})
            tests.p = rng.uniform(size=201)
            others = list(range(1, 201))
            wrong += len(ALGORITHMS["iamb-fdr"].run(tests, 0, others, alpha=ALPHA, trace=Trace()).members) > 0
        # P(any) = P(BY rejects anything under the null) = 0.05 / H(200) = 0.0085; 200 draws: 1.7 +- 1.3.
        assert wrong <= 8


class TestPc:
    def test_a_limit_on_conditioning_sets_is_reported(self):
        graph = nx.DiGraph({"A": ["X", "T"], "B": ["X", "T"], "T": []})  # A and B together separate X from T
        trace = Trace()
        assert set(search("pc", DSeparation(graph), max_given=1, trace=trace)) == set("ABX")
        assert trace.notes == [Note(Trouble.CAPPED, {"most": 1})]
        for name in ("pc", "iamb-n-pc"):
            trace = Trace()
            assert set(search(name, DSeparation(graph), trace=trace)) == set("AB")
            assert trace.notes == []

    def test_a_limit_is_reported_by_iamb_n_pc(self):
        graph = nx.DiGraph({"A": ["X", "T"], "B": ["X", "T"], "T": []})
        trace = Trace()
        search("iamb-n-pc", DSeparation(graph), max_given=0, trace=trace)
        assert trace.notes == [Note(Trouble.CAPPED, {"most": 0})]

    def test_the_order_of_columns_does_not_decide(self):
        """Stable removal: the conditioning sets of a level are those at its beginning."""
        # A separates B, B separates A; both go, whichever comes first.
        script = {"TA|": VERY, "TB|": VERY, "AB|": VERY, "TA|B": 0.0, "TB|A": 0.0}
        assert search("pc", Scripted("TAB", script)) == search("pc", Scripted("TBA", script)) == ""

    def test_works_out_only_what_it_needs(self):
        """At the end of a long chain only the first few nodes are asked about their neighbors."""
        asked = set()

        class Spy(DSeparation):
            def scan(self, xs, y, given=(), **how):
                asked.add(y)
                return super().scan(xs, y, given, **how)

        tests = Spy(nx.path_graph(60, create_using=nx.DiGraph))
        found = ALGORITHMS["pc"].run(tests, 0, list(range(1, 60)), alpha=ALPHA, trace=Trace())
        assert found.members == (1,)
        assert asked == {0, 1}

    def test_pairs_that_cannot_be_tested_are_no_separation(self):
        # X could be a spouse through C, but nothing is known about X and T.
        script = {"TC|": VERY, "TC|X": VERY, "CX|": VERY, "CX|T": VERY, "TX|": None, "TX|C": None}
        assert search("pc", Scripted("TCX", script)) == "C"


class TestReasons:
    """Every member, and everyone left out, has a test to show for it."""

    @pytest.mark.parametrize("name", FAMILY)
    def test_the_trace_explains_everybody(self, name):
        rng = np.random.default_rng(6)
        for graph in [varied_dag(rng) for _ in range(12)]:
            tests = DSeparation(graph)
            for target in graph.nodes:
                others, trace = [x for x in graph.nodes if x != target], Trace()
                found = ALGORITHMS[name].run(tests, target, others, alpha=ALPHA, trace=trace)
                last = {d.x: d for d in trace.decisions}
                assert {x for x, d in last.items() if d.action == "admitted"} == set(found.members)
                assert set(trace.members) == set(found.members) == truth(graph, target).blanket
                for d in trace.decisions:
                    assert d.reason
                    assert (d.evidence.x, d.evidence.y) == (d.x, target)
                    assert (d.action == "admitted") == d.evidence.dependent(ALPHA)
                seen = {x for _, batch in trace.scans for x in batch.xs.tolist()}
                assert seen | set(last) == set(others)

    @pytest.mark.parametrize("name", FAMILY)
    def test_a_listener_hears_of_it(self, name):
        heard = []
        trace = Trace(listener=heard.append)
        search(name, DSeparation(TestGrowShrink.GRAPH), trace=trace)
        assert heard

    @pytest.mark.parametrize("name", FAMILY)
    def test_no_candidates(self, name):
        found = ALGORITHMS[name].run(Scripted("T", {}), 0, [], alpha=ALPHA, trace=Trace())
        assert found.members == ()
