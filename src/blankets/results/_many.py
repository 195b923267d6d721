"""`Blankets`: the blankets of many targets, and the Markov network that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from blankets.arguments import one_of
from blankets.errors import did_you_mean, guarded
from blankets.records import Call, Count, NonNegative, Saved, refuse
from blankets.results._blanket import Blanket
from blankets.results._text import Tabled
from blankets.results._words import count_of, format_seconds, joined, shown

if TYPE_CHECKING:
    import networkx as nx

_MOST = 40  # most targets that a table shows


@guarded
@dataclass(frozen=True, eq=False, repr=False)
class Blankets(Saved, Tabled, Mapping[str, Blanket]):
    """The Markov blankets of many targets: a mapping from target to `Blanket`.

    Attributes
    ----------
    blankets : dict of str to Blanket
        One for each target.
    n_tests : int
        Number of tests performed, all targets together.
    seconds, warnings
        Time and notes on the answer.

    Examples
    --------
    >>> from blankets import Blanket, Blankets
    >>> def lone(target, *members):
    ...     test = dict(y=target, statistic=9.0, dof=1, log_p=-6.0, effect=0.1, n_rows=45)
    ...     e = {x: NamedEvidence(x=x, **test) for x in members}
    ...     return Blanket(target=target, members=members, strengths=e, algorithm="iamb", settings={},
    ...                    columns=("a", "b", "c"), n_rows=45)
    >>> from blankets.results import NamedEvidence
    >>> found = Blankets({"a": lone("a", "b"), "b": lone("b", "a"), "c": lone("c", "a")})
    >>> found["a"].members
    ('b',)
    >>> sorted(found.network("and").edges), sorted(found.network("or").edges)
    ([('a', 'b')], [('a', 'b'), ('a', 'c')])
    """

    _schema = "blankets/blankets"

    blankets: dict[str, Blanket]
    n_tests: Count = 0
    seconds: NonNegative = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def call(self) -> Call | None:
        """The call that made the blankets; None if there are none."""
        return next((blanket.call for blanket in self.blankets.values()), None)

    def __getitem__(self, target: str) -> Blanket:
        try:
            return self.blankets[target]
        except KeyError:
            why = self.excluded.get(str(target))
            hint = f": the column was not searched, as {why}" if why else did_you_mean(str(target), list(self.blankets))
            raise KeyError(f"no blanket of {target!r}{hint}") from None

    @property
    def excluded(self) -> Mapping[str, str]:
        """Columns that were neither targets nor searched, and why: constant ones, copies of others."""
        return next((blanket.excluded for blanket in self.blankets.values()), {})

    def __iter__(self) -> Iterator[str]:
        return iter(self.blankets)

    def __len__(self) -> int:
        return len(self.blankets)

    def _words(self) -> list[str]:
        return [f"Not searched: {joined(tuple(self.excluded))}."] if self.excluded else []

    def _title(self) -> str:
        effort = f"{count_of(self.n_tests, 'test')}, {format_seconds(self.seconds)}"
        return f"Markov blankets of {count_of(len(self), 'target')} ({effort})"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [shown(target), str(len(blanket)), joined(blanket.members, 6) or "-"]
            for target, blanket in list(self.blankets.items())[:_MOST]
        ]
        if len(self) > _MOST:
            rows.append([f"and {len(self) - _MOST} more", "", ""])
        return ["target", "size", "members"], rows

    def network(self, rule: Literal["and", "or"] = "and") -> nx.Graph:
        """Return the symmetric Markov network of the targets.

        In theory b is in the blanket of a exactly when a is in that of b; on data the two can disagree.

        Parameters
        ----------
        rule : {"and", "or"}
            "and": an edge needs both blankets to agree, so both ends must be targets. "or": one blanket
            is enough.

        Returns
        -------
        networkx.Graph
            Edges have the attributes ``effect``, the larger of the two effects in nats, and ``both``, whether
            the blankets agree.
        """
        import networkx as nx

        one_of("rule", rule, ("and", "or"))
        graph = nx.Graph(rule=rule)
        graph.add_nodes_from(self.blankets)
        for target, blanket in self.blankets.items():
            for name, evidence in blanket.strengths.items():
                both = name in self.blankets and target in self.blankets[name].strengths
                if both or rule == "or":
                    known = graph.get_edge_data(target, name, {}).get("effect", evidence.effect)
                    graph.add_edge(target, name, both=both, effect=max(known, evidence.effect))
        return graph

    def _check(self) -> None:
        if any(target != blanket.target for target, blanket in self.blankets.items()):
            refuse("'blankets' holds a blanket of another target than it says")
