"""`Knowledge`: what the user knows beforehand of the columns of a table.

It is checked once here, and turned into column numbers (`KnownColumns`). The layers of this room put it around the
tests, so that no algorithm has to know of it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from blankets.arguments import names_in, path_of
from blankets.errors import DataError, ParameterError, did_you_mean, guarded, listed
from blankets.records import named
from blankets.voice import option

Edge = tuple[str, str]
Entry = str | Edge


@guarded
@named
@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known beforehand: what comes first, who is in or out, what belongs together, what is always given.

    Answers rest on it: it is printed with them, and what the data say against it is reported.

    Parameters
    ----------
    tiers : list of lists of str
        Columns in the order of time, the earliest first. A column of a later tier is no cause of one in an earlier
        tier; within a tier, and for columns that are not named, anything may be. This gives neighbors their roles
        (parents come before the target, children after it), and keeps later columns out of the sets that separate
        earlier ones.
    required : list of str or (str, str)
        Columns that are in the blanket whatever the data say, or arrows (cause, effect).
    forbidden : list of str or (str, str)
        Columns that are never in the blanket, or arrows (cause, effect) that do not exist. Such a column is still used
        to tell others from members: it may separate. To leave it out of every test, say ``exclude=`` instead.
    together : list of lists of str
        Columns that are in or out as one and are tested jointly, such as the dummies of one variable, or repeated
        measurements.
    always_given : list of str
        Columns that every test is given too, such as site, batch or stratum. They are neither in nor out. They should
        not be effects of the target or of the features.

    Examples
    --------
    >>> from blankets import Knowledge
    >>> known = Knowledge(tiers=[["age", "sex"], ["stage"], ["relapse"]], always_given="site")
    >>> known.always_given
    ('site',)
    >>> print(known.in_words())
    Known beforehand: age, sex come before stage, that before relapse; every test is given site (neither in nor out).
    >>> Knowledge(required=["age"], forbidden=["age"])
    Traceback (most recent call last):
    blankets.errors.ParameterError: 'age' is both in 'required' and in 'forbidden' of Knowledge; drop it from one ...
    """

    tiers: Iterable[Iterable[str]] = ()
    required: Iterable[Entry] = ()
    forbidden: Iterable[Entry] = ()
    together: Iterable[Iterable[str]] = ()
    always_given: Iterable[str] = ()

    def __post_init__(self) -> None:
        for name in ("tiers", "together"):
            object.__setattr__(self, name, _lists_of_names(name, getattr(self, name)))
        for name in ("required", "forbidden"):
            object.__setattr__(self, name, _entries(name, getattr(self, name)))
        object.__setattr__(self, "always_given", _names("always_given", self.always_given))
        self._check()

    def _check(self) -> None:
        """Refuse what cannot be true at once."""
        for what, lists in (("tiers", self.tiers), ("together", self.together)):
            if twice := _twice(x for some in lists for x in some):
                raise ParameterError(f"{listed(twice)} is named twice in {what!r} of Knowledge; name it once")
        roles = {
            "required": [x for x in self.required if isinstance(x, str)],
            "forbidden": [x for x in self.forbidden if isinstance(x, str)],
            "always_given": list(self.always_given),
        }
        if twice := _twice(x for some in roles.values() for x in some):
            where = [name for name, some in roles.items() if twice[0] in some]
            both = f"both in {where[0]!r} and in {where[1]!r}" if len(where) > 1 else f"named twice in {where[0]!r}"
            raise ParameterError(f"{twice[0]!r} is {both} of Knowledge; drop it from one place")
        if mixed := [x for some in self.together for x in some if x in self.always_given]:
            raise ParameterError(
                f"{listed(mixed)} is in 'together' and in 'always_given' of Knowledge; say one of them"
            )
        if arrows := [x for x in self.required if not isinstance(x, str) and x in set(self.forbidden)]:
            raise ParameterError(f"the arrow {arrows[0]!r} is both in 'required' and in 'forbidden' of Knowledge")
        if cycle := _cycle(e for e in self.required if not isinstance(e, str)):
            raise ParameterError(
                f"the required arrows of Knowledge form a cycle: {' → '.join(cycle)}; drop one of them"
            )
        at = self._tier_of
        late = [e for e in self.required if not isinstance(e, str) and at.get(e[0], 0) > at.get(e[1], len(at))]
        if late:
            raise ParameterError(f"the required arrow {late[0]!r} leads from a later to an earlier tier")

    @property
    def _tier_of(self) -> dict[str, int]:
        return {x: k for k, tier in enumerate(self.tiers) for x in tier}

    @classmethod
    def of(cls, value: Knowledge | Mapping[str, Any] | None) -> Knowledge:
        """Return the knowledge; from a mapping of its fields, or from None: nothing is known."""
        if isinstance(value, Knowledge):
            return value
        if value is not None and not isinstance(value, Mapping):
            raise ParameterError.out_of_range("knowledge", value, "bl.Knowledge(...)")
        known = [each.name for each in fields(cls)]
        for name in value or {}:
            if name not in known:
                raise ParameterError(f"Knowledge has no {name!r}{did_you_mean(str(name), known)}")
        return cls(**(value or {}))

    @classmethod
    def from_toml(cls, path: str | Path) -> Knowledge:
        """Read the knowledge from a TOML file: a line for each field, such as ``always_given = ["site"]``.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        DataError
            If the file cannot be read, or is no TOML.
        """
        import tomllib

        place = path_of("knowledge", path)
        try:
            return cls.of(tomllib.loads(place.read_text(encoding="utf-8-sig")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise DataError(
                f"cannot read knowledge from {place.name!r}: {error}; it is a TOML file with lines such as "
                f'always_given = ["site"] or tiers = [["age"], ["relapse"]]'
            ) from error

    @property
    def is_empty(self) -> bool:
        """Whether nothing is known."""
        return not any(getattr(self, each.name) for each in fields(self))

    @property
    def members(self) -> tuple[str, ...]:
        """The columns that are required to be members, or forbidden to be; not those of arrows."""
        return tuple(x for x in (*self.required, *self.forbidden) if isinstance(x, str))

    def in_words(self) -> str:
        """Say what is known, in one sentence; empty if nothing is."""
        said = [
            *([_order_in_words(self.tiers)] if len(self._nonempty) > 1 else []),
            *([f"{_and(self.required)} {_is(self.required)} required"] if self.required else []),
            *([f"{_and(self.forbidden)} {_is(self.forbidden)} forbidden"] if self.forbidden else []),
            *(f"{_and(group)} are in or out as one" for group in self.together),
            *([f"every test is given {_and(self.always_given)} (neither in nor out)"] if self.always_given else []),
        ]
        return f"Known beforehand: {'; '.join(said)}." if said else ""

    @property
    def _nonempty(self) -> list[Iterable[str]]:
        return [tier for tier in self.tiers if tier]

    def at(self, names: Sequence[str], left_out: Collection[str] = ()) -> KnownColumns:
        """Return the knowledge in column numbers.

        Parameters
        ----------
        names : sequence of str
            The names of all columns.
        left_out : collection of str
            Columns of the table that are not used: what is said of them is ignored, unless a test would need them.

        Raises
        ------
        ParameterError
            If a column does not exist.
        """
        number = {name: j for j, name in enumerate(names)}
        said = [x for some in (*self.tiers, *self.together, self.always_given) for x in some]
        said += [x for e in (*self.required, *self.forbidden) for x in ((e,) if isinstance(e, str) else e)]
        for name in said:
            if name not in number and name not in left_out:
                raise ParameterError(f"Knowledge names {name!r}, which is not a column{did_you_mean(name, names)}")
        needed = [*self.always_given, *(x for x in self.required if isinstance(x, str))]
        if gone := [name for name in needed if name not in number]:
            raise ParameterError(
                f"Knowledge needs {listed(gone)}, which was left out when the table was read; keep it with "
                f"{option(keep=[gone[0]])}"
            )
        groups = tuple(tuple(number[x] for x in some if x in number) for some in self.together)
        groups = tuple(some for some in groups if len(some) > 1)
        speaker = {x: some[0] for some in groups for x in some}

        def of(name: str) -> int:
            return speaker.get(number[name], number[name])

        def arrows(entries: Iterable[Entry]) -> frozenset[tuple[int, int]]:
            pairs = [e for e in entries if not isinstance(e, str) and e[0] in number and e[1] in number]
            return frozenset((of(a), of(b)) for a, b in pairs)

        tier: dict[int, int] = {}
        for name, k in self._tier_of.items():
            if name in number and tier.setdefault(of(name), k) != k:
                group = next(some for some in groups if number[name] in some)
                raise ParameterError(
                    f"{listed(names[x] for x in group)} belong together, but are in different tiers of Knowledge"
                )
        return KnownColumns(
            tier=tier,
            groups={some[0]: some for some in groups},
            always=tuple(number[x] for x in self.always_given),
            required=tuple(dict.fromkeys(of(x) for x in self.required if isinstance(x, str))),
            forbidden=tuple(dict.fromkeys(of(x) for x in self.forbidden if isinstance(x, str) and x in number)),
            arrows=arrows(self.required),
            no_arrows=arrows(self.forbidden),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownColumns:
    """What is known, by column numbers; a group is known by its first column, its speaker."""

    tier: Mapping[int, int] = field(default_factory=dict)  # for some columns, the number of their tier
    groups: Mapping[int, tuple[int, ...]] = field(default_factory=dict)  # for each speaker, its group
    always: tuple[int, ...] = ()  # columns that every test is given
    required: tuple[int, ...] = ()  # members of the blanket
    forbidden: tuple[int, ...] = ()  # never members of the blanket
    arrows: frozenset[tuple[int, int]] = frozenset()  # arrows (cause, effect) that exist
    no_arrows: frozenset[tuple[int, int]] = frozenset()  # arrows that do not

    def never_causes(self, a: int, b: int) -> bool:
        """Tell whether it is known that no arrow leads from ``a`` to ``b``."""
        later = a in self.tier and b in self.tier and self.tier[a] > self.tier[b]
        return later or (a, b) in self.no_arrows or (b, a) in self.arrows

    @property
    def directed(self) -> bool:
        """Whether anything is known of directions."""
        return bool(len(set(self.tier.values())) > 1 or self.arrows or self.no_arrows)

    @property
    def silent(self) -> frozenset[int]:
        """The columns that no search sees: those always given, and those for which another speaks."""
        return frozenset(self.always).union(x for some in self.groups.values() for x in some[1:])

    def whole(self, x: int) -> tuple[int, ...]:
        """Return the columns for which a column speaks."""
        return self.groups.get(x, (x,))


def _names(field_name: str, value: Any) -> tuple[str, ...]:
    """Return names as a tuple; a string is one name, a number that of a column without a name."""
    some = tuple(names_in(field_name, value))
    for each in some:
        if isinstance(each, bool) or not isinstance(each, str | int):
            raise ParameterError(f"{field_name!r} of Knowledge holds names of columns, but {each!r} was given")
    return tuple(map(str, some))


def _lists_of_names(field_name: str, value: Any) -> tuple[tuple[str, ...], ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise ParameterError.out_of_range(field_name, value, "a list of lists of column names")
    return tuple(_names(field_name, some) for some in value)


def _entries(field_name: str, value: Any) -> tuple[Entry, ...]:
    """Return columns by name and arrows as pairs."""
    found: list[Entry] = []
    for each in names_in(field_name, value):
        if isinstance(each, str | int):
            found += _names(field_name, [each])
            continue
        pair = _names(field_name, each) if isinstance(each, Sequence) else ()
        if len(pair) != 2 or pair[0] == pair[1]:
            raise ParameterError(
                f"{field_name!r} of Knowledge holds names of columns, or arrows (cause, effect) between two of them, "
                f"but {each!r} was given"
            )
        found.append((pair[0], pair[1]))
    return tuple(found)


def _twice(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return list(dict.fromkeys(x for x in names if x in seen or seen.add(x)))  # type: ignore[func-returns-value]


def _cycle(arrows: Iterable[Edge]) -> list[str]:
    """Return the columns of a cycle of arrows, from cause to effect; empty if there is none."""
    from graphlib import CycleError, TopologicalSorter

    causes: dict[str, list[str]] = {}
    for cause, effect in arrows:
        causes.setdefault(effect, []).append(cause)
    try:
        TopologicalSorter(causes).prepare()
    except CycleError as error:
        return [str(x) for x in error.args[1]]
    return []


def _and(entries: Iterable[Entry]) -> str:
    return ", ".join(e if isinstance(e, str) else f"{e[0]} → {e[1]}" for e in entries)


def _is(entries: Iterable[Entry]) -> str:
    return "is" if len(tuple(entries)) == 1 else "are"


def _order_in_words(tiers: Iterable[Iterable[str]]) -> str:
    first, *rest = [tier for tier in tiers if tier]
    come = "comes" if _is(first) == "is" else "come"
    return f"{_and(first)} {come} before " + ", that before ".join(_and(tier) for tier in rest)
