"""`Blanket`: the Markov blanket of one target, why each column is in or out, and how it was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from blankets.errors import guarded
from blankets.records import Call, Count, NonNegative, Saved, refuse
from blankets.results import _explain, _text
from blankets.results._audit import Finding
from blankets.results._confirmation import Confirmation
from blankets.results._effects import Effects
from blankets.results._evidence import NamedEvidence, PassedOver, Step
from blankets.results._label_bias import LabelBias
from blankets.results._missed import POWERS, missed
from blankets.results._record import DataRecord, SettingsRecord
from blankets.results._words import as_frame
from blankets.search import Doubt, Trouble, Undecided
from blankets.stats import FalseMembers

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes

    from blankets.results._assumptions import Assumptions
    from blankets.results._explain import Explanation
    from blankets.results._refutation import Refutation


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Blanket(Saved):
    """The Markov blanket of a target, with the evidence for every decision.

    Made by `blankets.discover`. You can print, plot and save it.

    Attributes
    ----------
    target : str
        The target.
    members : tuple of str
        The blanket, strongest first.
    roles : dict of str to str
        "parent", "child", "spouse" or "neighbor" (a parent or child; it is not known which), for
        the members whose role the search can find.
    directions : dict of str to str
        With ``roles=True`` or tiers: what holds of a member although common causes may be hidden. "not an effect": the
        target does not act on it; "not a cause": it does not act on the target; "effect": the target acts on it.
    common_children : dict of str to str
        For a spouse, the child that it shares with the target.
    strengths : dict of str to NamedEvidence
        For each member its test given the other members; where rows are too few for that, given as many of
        them as rows allow.
    algorithm : str
        The algorithm that found it.
    why_algorithm : str
        Why ``algorithm="auto"`` chose it; empty if the user did.
    finds : {"blanket", "neighbors"}
        Whether the algorithm looks for the blanket or stops at parents and children.
    settings : dict
        The level ``alpha``, the test and all other choices.
    columns : tuple of str
        All columns that were searched, the target included.
    excluded : dict of str to str
        Columns that were not searched, and why.
    n_tests : int
        Number of tests performed.
    data : dict
        What was done to the data when they were read (discretization, missing values, ...).
    decisions : tuple of Step
        Columns that were admitted, removed or refused, in order.
    separators : dict of str to tuple of str
        For columns left out, a set that separates them from the target, if the search recorded one.
    passed_over : PassedOver
        The last test of each column left out, as arrays.
    false_members : FalseMembers or None
        The number of members expected to be there by chance, and what that assumes; None if the search does not
        control an error rate.
    closed : bool
        Whether every column left out was tested given the members, or is undecided.
    entered, left : tuple of str
        Columns added, and columns removed again, when the answer was checked against the definition (``close``).
    unchecked : tuple of str
        Members for which there are too few rows to test whether the others make them redundant.
    partly : tuple of str
        Columns left out because some of the members separate them from the target; there are too few rows to test
        them given all members.
    undecided : dict of str to Undecided
        Columns that are neither in nor out, each with the ``reason``: "weak" (it depends on the target given the
        members, but not clearly enough among so many columns), "few rows" (``rows`` would be enough to test it), or
        "not held fixed" (the members could not be held fixed in its test).
    equivalents : dict of str to tuple of str
        For a member, the columns that could replace it.
    effects : Effects or None
        How the target changes with each member: odds ratios, risk ratios or differences with 95% intervals, each given
        the other members. None where rows could not be looked at.
    checks : tuple of Finding
        What is unusual about the answer and its data, most important first, each with what to do; see `audit`.
    confirmation : Confirmation or None
        Tests of the members on rows that were set aside before the search (``confirm=``).
    label_bias : dict of str to LabelBias
        Where only positives are labeled: how much likelier labeling would have to be at a level of a member to explain
        it, if it were no member.
    troubles : tuple of Trouble
        What went wrong in the search: "cycled", "not interleaved", "capped", "limited", "kept", "beyond rows" or
        "no role"; ``warnings`` say it in sentences.
    n_rows, seconds, warnings, call
        Rows that were used, time, notes on the answer and the call that made it.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> from blankets import Blanket
    >>> rng = np.random.default_rng(7)
    >>> smoker, city = rng.random(500) < 0.3, rng.choice(["north", "south"], 500)
    >>> cough = rng.random(500) < np.where(smoker, 0.7, 0.1)
    >>> blanket = bl.discover({"smoker": smoker, "city": city, "cough": cough}, "smoker")
    >>> blanket.members, "cough" in blanket, len(blanket)
    (('cough',), True, 1)
    >>> Blanket.from_json(blanket.to_json()) == blanket
    True
    """

    _schema = "blankets/blanket"

    target: str
    members: tuple[str, ...]
    roles: Mapping[str, Literal["parent", "child", "spouse", "neighbor"]] = field(default_factory=dict)
    directions: Mapping[str, Literal["not an effect", "not a cause", "effect"]] = field(default_factory=dict)
    common_children: Mapping[str, str] = field(default_factory=dict)
    strengths: Mapping[str, NamedEvidence]
    algorithm: str
    why_algorithm: str = ""
    finds: Literal["blanket", "neighbors"] = "blanket"
    settings: SettingsRecord
    columns: tuple[str, ...]
    excluded: Mapping[str, str] = field(default_factory=dict)
    n_rows: Count
    n_tests: Count = 0
    seconds: NonNegative = 0.0
    warnings: tuple[str, ...] = ()
    troubles: tuple[Trouble, ...] = ()
    data: DataRecord = field(default_factory=dict)
    decisions: tuple[Step, ...] = field(default_factory=tuple)
    separators: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    passed_over: PassedOver = field(default_factory=PassedOver.nothing)
    false_members: FalseMembers | None = field(default_factory=lambda: None)
    closed: bool = False
    entered: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    undecided: Mapping[str, Undecided] = field(default_factory=dict)
    equivalents: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    effects: Effects | None = field(default_factory=lambda: None)
    checks: tuple[Finding, ...] = field(default_factory=tuple)
    label_bias: Mapping[str, LabelBias] = field(default_factory=dict)
    confirmation: Confirmation | None = None
    call: Call | None = None

    @classmethod
    def to_be_told(cls, later: Mapping[str, Callable[[Blanket], Any]], **known: Any) -> Blanket:
        """Return a blanket that computes some of its fields when they are first used.

        For most of many targets nobody asks for the reasons, and computing them takes as long as a small search.
        """
        blanket = object.__new__(cls)
        blanket.__dict__.update(known, _later=later)
        return blanket

    if not TYPE_CHECKING:  # a type checker knows the fields

        def __getattr__(self, name: str) -> Any:
            work = self.__dict__.get("_later", {}).get(name)
            if work is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = self.__dict__[name] = work(self)
            return value

    def tell(self) -> Blanket:
        """Compute the fields that were not used yet, and release the search; return the blanket itself."""
        self.__getstate__()
        self.__dict__.pop("_later", None)
        return self

    def __getstate__(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def __repr__(self) -> str:
        return _text.blanket_text(self)

    def _repr_html_(self) -> str:
        return _text.blanket_html(self)

    @property
    def alpha(self) -> float | None:
        """The level of the tests; None if the search has none."""
        alpha = self.settings.get("alpha")
        return alpha if isinstance(alpha, float) and 0.0 < alpha < 1.0 else None

    @property
    def weak(self) -> tuple[str, ...]:
        """Members with p above ``alpha`` given the others, where rows are enough to tell.

        The search found them given fewer columns or by a quicker test, and they stay (methods, section 16).
        """
        alpha = self.alpha
        if alpha is None:
            return ()
        tested = ((name, e) for name, e in self.strengths.items() if e.reliable and name not in self.unchecked)
        return tuple(name for name, e in tested if e.p > alpha)

    def cannot_say(self, name: str) -> bool:
        """Tell whether rows do not allow to test a column given the members."""
        return name in self.undecided and self.undecided[name].reason != Doubt.WEAK

    def table(self) -> list[dict[str, object]]:
        """Return one row for each member, strongest first; ``pandas.DataFrame(blanket.table())`` reads it.

        ``estimate`` is the odds ratio, risk ratio or difference (``measure``) of the clearest comparison of a member,
        with the ends of its 95% interval; ``blanket.effects.table()`` has all comparisons. ``effect`` is the
        information in nats as it was measured, ``information`` what is too large as often as too small, ``log_p`` the
        natural logarithm of the p-value. ``weak``: see `weak`.
        """
        weak = self.weak
        return [
            {
                "member": name,
                "role": self.roles.get(name),
                "direction": self.directions.get(name),
                **_main_effect(self.effects, name),
                "effect": evidence.effect,
                "information": evidence.information,
                "size": evidence.size,
                "p": evidence.p,
                "log_p": evidence.log_p,
                "statistic": evidence.statistic,
                "dof": evidence.dof,
                "given": evidence.given,
                "n_rows": evidence.n_rows,
                "reliable": evidence.reliable,
                "checked": name not in self.unchecked,
                "weak": name in weak,
                "equivalents": tuple(self.equivalents.get(name, ())),
                **({"label_bias": self.label_bias[name].gamma} if name in self.label_bias else {}),
            }
            for name, evidence in self.strengths.items()
        ]

    def to_frame(self) -> Any:
        """Return `table` as a pandas data frame, one row for each member."""
        return as_frame(self.table(), "a blanket")

    def explain(self, name: str | None = None) -> Explanation:
        """Say why a column is in the blanket or not, with the tests that decided it; or explain the whole answer.

        Parameters
        ----------
        name : str, optional
            Any column of the data: a member, one left out, or one that was excluded beforehand. Without it, what the
            columns of the printed table mean, how the answer was found, and what that assumes.

        Raises
        ------
        DataError
            If the data have no such column.
        """
        return _explain.explain(self, self.target if name is None else name)

    def could_have_missed(self, powers: Sequence[float] = POWERS) -> list[dict[str, object]]:
        """Return, for each column left out, the smallest effect that its decisive test would have found.

        One row per column, in the order of ``columns``: its effects in nats (``effect_80``, ``effect_95``) and
        the test. If κ (``settings["kappa"]``: each row counts as much as κ rows with full labels) is known, the
        effect is on the target, otherwise on what was counted in its place. Columns that no test found
        independent are not listed.

        Parameters
        ----------
        powers : sequence of float
            Probabilities of detection.
        """
        return missed(self, powers).table(self.columns)

    def check_assumptions(self) -> Assumptions:
        """Say what must be true for the blanket to be right, how it looks here, and what to do next."""
        from blankets.results._assumptions import check_assumptions

        return check_assumptions(self)

    def confirm(self, data: Any, **choices: Any) -> Confirmation:
        """Test each member given the others on other rows: see `blankets.confirm`.

        Parameters
        ----------
        data : data frame, array, ...
            Rows that had no part in the search.
        **choices
            ``y``, ``alpha``, ``n_jobs``, and arguments of `discover` to give again.
        """
        from blankets.questions.confirm import confirm

        return confirm(self, data, **choices)

    def refute(self, data: Any, **choices: Any) -> Refutation:
        """Try to refute the blanket on the data from which it was found: see `blankets.refute`.

        Parameters
        ----------
        data : data frame, array, ...
            The table that was given to `discover`.
        **choices
            ``y``, ``n_resamples``, ``n_jobs``, ``progress``, ``rng``, and arguments of `discover` to give again.
        """
        from blankets.questions.refute import refute

        return refute(self, data, **choices)

    def _derived(self) -> dict[str, object]:
        return {"could_have_missed": missed(self).groups(), "weak": self.weak}

    def _check(self) -> None:
        if self.members != tuple(self.strengths) or any(name != e.x for name, e in self.strengths.items()):
            refuse("'members' and 'strengths' do not speak of the same columns")
        if not self.roles.keys() <= set(self.members):
            refuse("'roles' holds roles that do not exist, or of columns that are no members")
        if not {self.target, *self.members, *(step.x for step in self.decisions)} <= set(self.columns):
            refuse("the target, the members and the columns in 'decisions' must be among 'columns'")
        if (self.passed_over.columns >= len(self.columns)).any():
            refuse("'passed_over' points beyond the end of its 'columns'")

    def to_networkx(self) -> nx.DiGraph:
        """Return the blanket as a graph: the target, its members and what is known of their edges.

        An edge has the attribute ``directed``: True for parent -> target, target -> child and
        spouse -> child; False where the direction is not known (the edge then runs from the target).
        Nodes have the attribute ``role``, members also ``effect`` and ``log_p``.
        """
        import networkx as nx

        target = self.target
        graph = nx.DiGraph(target=target, finds=self.finds)
        graph.add_node(target, role="target")
        for name, evidence in self.strengths.items():
            graph.add_node(name, role=self.roles.get(name, "unknown"), effect=evidence.effect, log_p=evidence.log_p)
        for name in self.members:
            role = self.roles.get(name)
            child = self.common_children.get(name)
            if role == "parent":
                graph.add_edge(name, target, directed=True)
            elif role == "child":
                graph.add_edge(target, name, directed=True)
            elif role == "spouse" and child in graph:
                shown = self.roles.get(child or "") == "child"
                graph.add_edge(name, child, directed=shown)
                graph.add_edge(target, child, directed=shown)
            else:
                # A neighbor, or a member without a known role. If a spouse points at this child, the edge
                # may have a direction already.
                graph.add_edge(target, name, directed=graph.has_edge(target, name))
        return graph

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the target and its blanket: parents above, children below, spouses beside the children."""
        from blankets.plots import plot_blanket

        return plot_blanket(self, ax=ax)

    def report(self, path: str | Path, **details: Any) -> Path:
        """Write everything about the blanket as one HTML page that needs no network; return its path.

        For ``details`` see `blankets.report.report`: ``source``, ``stability``, ``sensitivity``, ``latent``.
        """
        from blankets.report import report

        return report(self, path, **details)


def _main_effect(effects: Effects | None, name: str) -> dict[str, object]:
    """Return the clearest comparison of a member as columns of a table."""
    one = None if effects is None else effects.of(name)
    if effects is None or one is None:
        return dict.fromkeys(("measure", "compared", "estimate", "low_95", "high_95"))
    return {
        "measure": effects.measure,
        "compared": f"{one.compared}, {one.outcome}" if one.outcome else one.compared,
        "estimate": one.estimate,
        "low_95": one.low,
        "high_95": one.high,
    }
