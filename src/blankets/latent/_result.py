"""`LatentBlanket`: the blanket with its latents, their places, and their states for any row."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from blankets.data import Encoder, Frame
from blankets.errors import ParameterError, guarded
from blankets.latent._graphs import to_networkx
from blankets.latent._network import FittedNetwork
from blankets.latent._picture import draw, roles_of
from blankets.latent._rows import Floats
from blankets.records import Bounds, Call, Count, Known, Probability, Saved, refuse

if TYPE_CHECKING:
    import networkx as nx
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Latent:
    """One latent variable of a blanket."""

    name: str  # "H1", "H2", ...
    # its place in the best DAG, relative to the target; "outside" the blanket only if the search had no
    # constraints
    position: Annotated[str, Literal["parent", "child", "spouse", "outside"]]
    certain: bool  # whether all DAGs that fit equally well agree on a parent or child; a spouse is always certain
    # parents, children: its neighbors in the DAG
    parents: tuple[str, ...]
    children: tuple[str, ...]
    # Its conditional distribution: one axis for each parent, in order, and a last one for its states. States are
    # ordered by the probability of the last level of the target.
    table: Annotated[Floats, Bounds(0.0, 1.0)]
    prevalence: tuple[Probability, ...]  # probability of each state
    information: Known  # mutual information with the target in the fitted model, in nats
    replaced: tuple[str, ...]  # former members of the blanket that are irrelevant given the latent
    # How much the data support it over the models without it, in nats: the gain in observed-data BIC or, if two
    # binary members do not allow a gain, the logarithm of the Bayes factor. From 3 on it is strong; below, the
    # latent is only a possibility.
    support: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SubspaceScore:
    """The best model of one subspace."""

    latent: Count  # 1 for the search for the first latent, 2 for the second, ...
    subspace: str  # "parent", "child", "spouse through x", "anywhere", or "observed" for the model without latents
    members: tuple[str, ...]  # its blanket; empty if no model was admissible
    # mi, bic, error, cll: information about the target (nats per row), observed-data BIC, training error,
    # conditional log-likelihood
    mi: float
    bic: float
    error: float
    cll: float
    refused: str = ""  # why it was not chosen; empty if it could be


@guarded
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LatentBlanket(Saved):
    """The Markov blanket of a target with latent members.

    Made by `blankets.discover_latent`.

    Attributes
    ----------
    target : str
        The target.
    members : tuple of str
        The blanket: observed members, then latents.
    latents : tuple of Latent
        The latents; empty if the data support none.
    observed : tuple of str
        The observed blanket from which the search started.
    scores : tuple of SubspaceScore
        The best model of each subspace (place for a latent), the model without latents first.
    method, score : str
        How latents were searched, and how subspaces were compared.
    settings : dict
        All other settings.
    n_rows, warnings, call
        Rows that were used, notes on the answer and the call that made it.

    Examples
    --------
    >>> import numpy as np
    >>> import blankets as bl
    >>> rng = np.random.default_rng(0)
    >>> cause = rng.random(600) < 0.5
    >>> table = {name: (cause ^ (rng.random(600) < 0.1)).astype(int) for name in ("a", "b", "c", "t")}
    >>> found = bl.discover_latent(table, "t", n_restarts=1, rng=0)
    >>> again = bl.LatentBlanket.from_json(found.to_json())
    >>> again.to_json() == found.to_json(), bool((again.predict_proba(table) == found.predict_proba(table)).all())
    (True, True)
    """

    _schema = "blankets/latent-blanket"

    target: str
    members: tuple[str, ...]
    latents: tuple[Latent, ...]
    observed: tuple[str, ...]
    scores: tuple[SubspaceScore, ...]
    method: str
    score: str
    settings: Mapping[str, Any]
    n_rows: Count
    warnings: tuple[str, ...] = ()
    call: Call | None = None
    network: FittedNetwork = field(repr=False)
    nodes: tuple[str, ...] = field(repr=False)
    encoder: Encoder = field(repr=False)

    @property
    def graph(self) -> nx.DiGraph:
        """The fitted local DAG over observed members, nearby columns that were used, target and latents."""
        return to_networkx(self.network.parents, self.nodes)

    def __len__(self) -> int:
        return len(self.members)

    def __iter__(self) -> Iterator[str]:
        return iter(self.members)

    def __contains__(self, name: object) -> bool:
        return name in self.members

    def latent(self, name: str | None = None) -> Latent:
        """Return a latent by name, by default the first."""
        if not self.latents:
            raise ParameterError(f"no latent was found in the blanket of {self.target!r}")
        chosen = self.latents[0].name if name is None else name
        for latent in self.latents:
            if latent.name == chosen:
                return latent
        raise ParameterError.not_one_of("latent", name, [latent.name for latent in self.latents])

    def posterior(self, rows: Any, name: str | None = None, *, use_target: bool = False) -> Floats:
        """Return the probability of each state of a latent for each row.

        Parameters
        ----------
        rows : table
            Any container with the observed columns of the blanket; the target may be absent.
        name : str, optional
            Which latent, by default the first.
        use_target : bool
            Whether to use the target's value in ``rows``. By default it is not used, because it is unknown when
            a prediction is made.

        Returns
        -------
        ndarray of float64, shape (rows, states)
            Each row sums to 1.
        """
        node = self.nodes.index(self.latent(name).name)
        codes = self._codes(rows, use_target=use_target)
        unknown = [self.nodes.index(latent.name) for latent in self.latents]
        if not use_target:
            unknown.append(self.nodes.index(self.target))
        unknown.remove(node)
        return _first_alone(self.network.posterior(codes, [node, *unknown]))

    def predict_proba(self, rows: Any) -> Floats:
        """Return p(target | features) of the fitted model for each row, shape (rows, levels of the target)."""
        unknown = [self.nodes.index(name) for name in (self.target, *(latent.name for latent in self.latents))]
        return _first_alone(self.network.posterior(self._codes(rows, use_target=False), unknown))

    def _codes(self, rows: Any, *, use_target: bool) -> np.ndarray:
        frame = rows if isinstance(rows, Frame) else self.encoder.transform(rows)
        codes = np.zeros((len(self.nodes), frame.n_rows), np.int32)
        hidden = {latent.name for latent in self.latents} | (set() if use_target else {self.target})
        for node, name in enumerate(self.nodes):
            if name not in hidden:
                codes[node] = frame.column(frame.index(name))
        return codes

    def explain(self, name: str) -> str:
        """Say what is known about a latent or an observed column of the neighborhood.

        Parameters
        ----------
        name : str
            A latent, a member, or a member of the observed blanket.
        """
        if name in self.graph and name != self.target:
            latent = next((latent for latent in self.latents if latent.name == name), None)
            return self._explain_observed(name) if latent is None else self._explain_latent(latent)
        raise ParameterError.not_one_of("column", name, [node for node in self.graph if node != self.target])

    def _explain_latent(self, latent: Latent) -> str:
        sure = "" if latent.certain else " (its mirror image, parent for child, fits equally well)"
        place = f"a latent {latent.position}" if latent.position != "outside" else "a latent outside the blanket"
        lines = [
            f"{latent.name} is {place} of {self.target!r}{sure}.",
            f"It shares {latent.information:.3f} nats with the target.",
        ]
        if latent.children:
            lines.append(f"It acts on {', '.join(map(repr, latent.children))}.")
        if latent.parents:
            lines.append(f"It depends on {', '.join(map(repr, latent.parents))}.")
        if latent.replaced:
            lines.append(f"Given it, {', '.join(map(repr, latent.replaced))} tell nothing more about the target.")
        states = ", ".join(f"{share:.0%}" for share in latent.prevalence)
        lines.append(f"Its states are found in {states} of the rows.")
        return " ".join(lines)

    def _explain_observed(self, name: str) -> str:
        if name in self.members:
            return f"{name!r} is a member of the blanket of {self.target!r}."
        if name not in self.observed:
            return f"{name!r} is not in the blanket of {self.target!r}; it was looked at because it is near."
        by = [latent.name for latent in self.latents if name in latent.replaced]
        return f"{name!r} was in the observed blanket; {' and '.join(by) or 'the model'} made it irrelevant."

    def _derived(self) -> dict[str, object]:
        return {"edges": [list(edge) for edge in self.graph.edges]}

    def _check(self) -> None:
        nodes, hidden = set(self.nodes), {latent.name for latent in self.latents}
        self.network._check_nodes(len(self.nodes))
        if len(nodes) < len(self.nodes) or not {self.target, *self.members, *self.observed, *hidden} <= nodes:
            refuse("'nodes' holds a name twice, or not all of the target, 'members', 'observed' and 'latents'")
        arities = dict(zip(self.nodes, self.network.arities.tolist(), strict=True))
        levels = dict(zip(self.encoder.names, map(len, self.encoder.levels), strict=True))
        if any(levels.get(name) != arities[name] for name in nodes - hidden) or self.target in hidden:
            refuse("'names' and 'levels' in 'encoder' are not those of 'nodes'")
        graph = self.graph
        for latent in self.latents:
            around = set(graph.predecessors(latent.name)), set(graph.successors(latent.name))
            if (set(latent.parents), set(latent.children)) != around or len(latent.prevalence) != arities[latent.name]:
                refuse(f"'parents', 'children' or 'prevalence' of {latent.name!r} are not those of 'network'")
            if latent.table.shape != tuple(arities[u] for u in (*latent.parents, latent.name)):
                refuse(f"'table' of {latent.name!r} is not of the shape of 'network'")

    @property
    def roles(self) -> dict[str, str]:
        """The parents, children and spouses of the target in the fitted graph; others are "outside" the blanket."""
        return roles_of(self.graph, self.target)

    def picture(self) -> str:
        """Return a drawing of the local DAG as SVG: parents above the target, children below it, latents dashed."""
        return draw(self.graph, self.target, {latent.name for latent in self.latents})

    def plot(self, ax: Axes | None = None, **details: Any) -> Axes:
        """Draw the local DAG with matplotlib, latents in dashed boxes; see `blankets.plots.plot_latent_blanket`."""
        from blankets.plots import plot_latent_blanket

        return plot_latent_blanket(self, ax=ax, **details)

    def plot_posterior(
        self, rows: Any, name: str | None = None, *, by: ArrayLike | None = None, ax: Axes | None = None, **details: Any
    ) -> Axes:
        """Draw the distribution, over rows, of the probability of the last state of a latent; ``by``: groups of rows.

        See `posterior` for ``rows`` and ``name``, `blankets.plots.plot_latent_posterior` for the rest.
        """
        from blankets.plots import plot_latent_posterior

        title = f"Posterior of {self.latent(name).name}"
        return plot_latent_posterior(self.posterior(rows, name), by, ax=ax, **{"title": title, **details})

    def report(self, path: str | Path) -> Path:
        """Write one self-contained HTML page: the latents, their places, and the alternatives."""
        from blankets.report import latent_report

        return latent_report(self, path)

    def __repr__(self) -> str:
        return "\n".join(self._lines())

    def _repr_html_(self) -> str:
        lines = "<br>".join(escape(line) for line in self._lines())
        return f"<div>{lines}<br>{self.picture()}</div>"

    def _lines(self) -> list[str]:
        lines = [f"Latent Markov blanket of {self.target!r}: {', '.join(self.members) or 'empty'}"]
        lines += [f"  {self._explain_latent(latent)}" for latent in self.latents]
        if not self.latents:
            lines.append("  No latent is supported by the data; this is the observed blanket.")
        for s in self.scores:
            verdict = f"refused: {s.refused}" if s.refused else ", ".join(s.members)
            figures = "" if math.isnan(s.mi) else f"mi {s.mi:.4f}, bic {s.bic:.1f}, error {s.error:.3f}; "
            lines.append(f"  {s.latent} {s.subspace}: {figures}{verdict}")
        return lines + [f"  note: {warning}" for warning in self.warnings]


def _first_alone(joint: Floats) -> Floats:
    """Return the distribution of the first of several nodes for each row."""
    alone: Floats = joint.sum(axis=tuple(range(1, joint.ndim - 1))).T
    return alone
