"""BIF: what is written reads back; odd but valid files are read; rubbish is refused with a line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from blankets.errors import DataError
from blankets.simulate import Network, random_dag, random_network

SPRINKLER = """network weather { property "by hand; with care { }"; }
// a comment with variable x {
variable rain { type discrete [ 2 ] { no, yes }; property position = (10, 20); }
variable "lawn sprinkler" {
  property side "left";
  type discrete [ 2 ] { off on };
}
variable grass { type discrete[3]{dry, Asy/Patch, <=5 mm}; }
/* rows in
   any order */
probability ( grass | rain, "lawn sprinkler" ) {
  (yes, on) 0.01, 0.09, 0.9;
  (no, off) 0.9, 0.05, 0.05;
  default 0.2 0.3 0.5;
}
probability ( rain ) { table 0.7, 0.3; }
probability ( "lawn sprinkler" rain ) { table 0.6, 0.9, 0.4, 0.1; }
"""

HEAD = "variable a { type discrete [ 2 ] { x, y }; }\nprobability ( a ) {\n"


def same(one: Network, other: Network) -> bool:
    return (
        one.levels == other.levels
        and one.parents == other.parents
        and all(np.array_equal(one.tables[name], other.tables[name]) for name in one.names)
    )


def test_every_form_that_the_format_allows():
    network = Network.from_bif(SPRINKLER)
    assert network.names == ("rain", "lawn sprinkler", "grass")
    assert network.levels["grass"] == ("dry", "Asy/Patch", "<=5 mm")
    assert network.parents == {"rain": (), "lawn sprinkler": ("rain",), "grass": ("rain", "lawn sprinkler")}
    # In a `table` the node runs slowest: p(off|no), p(off|yes), p(on|no), p(on|yes).
    np.testing.assert_array_equal(network.tables["lawn sprinkler"], [[0.6, 0.4], [0.9, 0.1]])
    np.testing.assert_array_equal(
        network.tables["grass"], [[[0.9, 0.05, 0.05], [0.2, 0.3, 0.5]], [[0.2, 0.3, 0.5], [0.01, 0.09, 0.9]]]
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_network_survives_the_round_trip_to_the_last_bit(seed):
    graph = random_dag(15, rng=seed, mean_degree=3)
    network = random_network(graph, arities={f"x{j}": 2 + j % 4 for j in range(15)}, rng=seed)
    text = network.to_bif()
    again = Network.from_bif(text)
    assert again.to_bif() == text
    assert again.parents == network.parents
    assert all(np.array_equal(again.tables[name], network.tables[name]) for name in network.names)
    assert again.sample(100, rng=0).column(3).tolist() == network.sample(100, rng=0).column(3).tolist()


def test_awkward_names_and_levels_survive():
    levels = {
        'say "hi"': ("a, b", "c | d", "(e)"),
        "back\\slash": ("{", "}", ";"),
        "variable": ("table", "default", "// no comment"),
        "Größe": ("/* x */", "new\nline", ""),
        " ": ("[1]", " ", "1.5"),
    }
    names = list(levels)
    network = Network(
        levels,
        {names[1]: [names[0]], names[2]: [names[0], names[1]], names[4]: [names[3]]},
        {
            names[0]: np.full(3, 1 / 3),
            names[1]: np.random.default_rng(0).dirichlet(np.ones(3), 3),
            names[2]: np.random.default_rng(1).dirichlet(np.ones(3), (3, 3)),
            names[3]: [0.2, 0.3, 0.5],
            names[4]: np.eye(3),
        },
    )
    assert same(Network.from_bif(network.to_bif()), network)


def test_paths_plain_and_compressed(tmp_path):
    network = Network.from_bif(SPRINKLER)
    plain, packed, latin = tmp_path / "w.bif", tmp_path / "w.bif.gz", tmp_path / "latin.bif"
    network.to_bif(plain)
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    latin.write_bytes(SPRINKLER.replace("dry", "trocken_für_heute").encode("latin-1"))
    assert same(Network.from_bif(plain), network)
    assert same(Network.from_bif(str(packed)), network)
    assert Network.from_bif(latin).levels["grass"][0] == "trocken_für_heute"


def test_rows_are_renormalized_within_the_tolerance():
    text = "variable a { type discrete [ 3 ] { x, y, z }; } probability ( a ) { table 0.33, 0.33, 0.33; }"
    np.testing.assert_allclose(Network.from_bif(text).tables["a"], 1 / 3, rtol=1e-15)
    with pytest.raises(DataError, match=r"BIF line 1: the table of 'a' does not sum to one for \(\)"):
        Network.from_bif(text, tolerance=0.001)


def test_a_row_without_parents_may_have_empty_brackets():
    text = "variable a { type discrete [ 2 ] { x, y }; } probability ( a ) { () 0.25, 0.75; }"
    assert Network.from_bif(text).tables["a"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("variable rain {", "varable rain {", "line 3: expected 'variable' or 'probability', but found 'varable rain"),
        ("type discrete [ 2 ] { no, yes };", "type continuous;", "line 3: expected 'type discrete"),
        ("[ 2 ] { no, yes }", "[ 3 ] { no, yes }", "line 3: variable 'rain' announces 3 levels, but lists 2"),
        ("{ no, yes }", "{ no, no }", "line 3: variable 'rain' needs different levels, but lists 'no', 'no'"),
        ("[ 2 ] { no, yes }", "[ 1 ] { }", "line 3: variable 'rain' announces 1 levels, but lists 0"),
        ("[ 2 ] { no, yes }", "[ 0 ] { }", "line 3: variable 'rain' needs different levels"),
        ("variable grass {", "variable rain {", "line 8: variable 'rain' is declared twice"),
        ("<=5 mm}; }", "<=5 mm}; what }", "line 8: expected '}' after variable 'grass', but found 'what }'"),
        ("( rain )", "( )", r"line 16: expected '\( node \| parents \)', but found '\(\)'"),
        ("( rain )", "( rain grass | grass )", r"line 16: expected '\( node \| parents \)'"),
        (
            "( rain )",
            "( rian )",
            "line 16: there are probabilities of 'rian', which is not a variable; did you mean 'rain'",
        ),
        ("( rain )", "( grass )", "line 16: the probabilities of 'grass' are given twice"),
        ("( rain )", "( rain | rain )", "line 16: the parents of 'rain' must be different variables"),
        (
            "grass | rain,",
            "grass | ran,",
            "line 11: the parent 'ran' of 'grass' is not a variable; did you mean 'rain'",
        ),
        ("0.7, 0.3", "0.7, 0.x", "line 16: expected 2 probabilities, but found '0.7, 0.x'"),
        ("0.7, 0.3", "0.7", "line 16: expected 2 probabilities, but found 1"),
        ("0.7, 0.3", "nan, 0.3", "line 16: probabilities must lie between 0 and 1"),
        ("0.7, 0.3", "1.3, -0.3", "line 16: probabilities must lie between 0 and 1"),
        ("(yes, on)", "(yes, maybe)", "line 12: 'maybe' is not a level of 'lawn sprinkler'; it has 'off', 'on'"),
        ("(yes, on)", "(yes)", r"line 12: 'grass' has 2 parents, but the row \(yes\) names 1"),
        ("(yes, on)", "(no, off)", r"line 13: the row \(no, off\) of 'grass' is given twice"),
        ("default 0.2 0.3 0.5;", "", r"line 11: the table of 'grass' has no row for \(no, on\)"),
        ("0.01, 0.09, 0.9;", "0.01, 0.09, 0.7;", r"the table of 'grass' does not sum to one for \(yes, on\)"),
        ("0.01, 0.09, 0.9;", "0.01, 0.09, 0.9", "line 12: expected a row of probabilities of 'grass', but found"),
        ("probability ( rain ) { table 0.7, 0.3; }", "", "no 'probability' block for variable 'rain'"),
    ],
)
def test_mistakes_are_named_with_their_line(old, new, message):
    assert SPRINKLER.count(old) == 1
    with pytest.raises(DataError, match=message):
        Network.from_bif(SPRINKLER.replace(old, new))


def test_what_is_no_network_at_all(tmp_path):
    with pytest.raises(DataError, match="there is no variable in this text"):
        Network.from_bif("network empty {\n}\n")
    with pytest.raises(DataError, match=r"cannot read the network file .*nowhere"):
        Network.from_bif(tmp_path / "nowhere.bif")
    with pytest.raises(DataError, match="cannot read the network file"):
        Network.from_bif(tmp_path)
    with pytest.raises(DataError, match="cannot read the network file"):
        Network.from_bif("null\0byte")
    broken = tmp_path / "broken.bif.gz"
    broken.write_bytes(gzip.compress(SPRINKLER.encode())[:-20])
    with pytest.raises(DataError, match="cannot read the network file"):
        Network.from_bif(broken)
    with pytest.raises(DataError, match="the parents form a cycle"):
        Network.from_bif(SPRINKLER.replace("( rain ) { table", '( rain | "lawn sprinkler" ) { default'))


def test_tables_beyond_reason_are_refused_before_they_are_allocated():
    names = [f"v{j}" for j in range(40)]
    text = "".join(f"variable {name} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for name in names)
    text += f"probability ( v0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}\n"
    text += "".join(f"probability ( {name} ) {{ table 0.5, 0.5; }}\n" for name in names[1:])
    with pytest.raises(DataError, match="line 41: up to 'v0' the tables have more than 134,217,728 cells"):
        Network.from_bif(text)
    singles = text.replace("[ 2 ] { a, b }", "[ 1 ] { a }").replace("0.5, 0.5", "1")
    many = singles + "".join(
        f"variable w{j} {{ type discrete [1] {{ a }}; }} probability (w{j}) {{ table 1; }}\n" for j in range(30)
    )
    wide = many.replace("( v0 | ", f"( v0 | {', '.join(f'w{j}' for j in range(30))}, ")
    assert len(Network.from_bif(many).names) == 70
    with pytest.raises(DataError, match="line 41: 'v0' has 69 parents; at most 63 are possible"):
        Network.from_bif(wide)


def test_truncated_and_damaged_files_raise_nothing_but_data_errors(tmp_path):
    network = random_network(random_dag(8, rng=0, mean_degree=3), arities=3, rng=0)
    raw = (SPRINKLER + network.to_bif().partition("}\n")[2]).encode()
    rng = np.random.default_rng(0)
    path, refused = tmp_path / "damaged.bif", 0
    damaged = [raw[:cut] for cut in rng.integers(0, len(raw), 150)]
    for _ in range(450):
        copy = bytearray(raw)
        for at in rng.integers(0, len(raw), rng.integers(1, 4)):
            copy[at] = rng.integers(256)
        damaged.append(bytes(copy))
    for content in damaged:
        path.write_bytes(content)
        try:
            assert len(Network.from_bif(path).names) > 0
        except DataError:
            refused += 1
    assert 150 < refused < len(damaged)  # some damage falls into a name or a comment and is not an error


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "table 0.5, 0.5\n" * 100_000, "line 3: expected a row of probabilities of 'a'"),
        ('variable "' + "a\\" * 500_000 + "{", "line 1: expected 'variable' or 'probability'"),
        (HEAD + "// quotes\n" + '"\\' * 200_000, "line 4: expected a row of probabilities of 'a'"),
        (HEAD + "/* " * 200_000, "line 3: expected a row of probabilities of 'a', but found ''"),
        (HEAD + "{" * 200_000, "line 3: expected a row of probabilities of 'a'"),
        ("variable " * 100_000 + "{", "line 1: expected 'variable' or 'probability'"),
    ],
    ids=["no end of row", "no end of name", "open quotes", "open comments", "braces", "words"],
)
def test_a_large_damaged_file_does_not_hang(text, message):
    with pytest.raises(DataError, match=message):
        Network.from_bif(text)
