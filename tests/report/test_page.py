"""The page: everything from data is text, nothing is loaded, small however many columns there are."""

import base64
import hashlib
import json
import re
import time
import warnings
from html.parser import HTMLParser
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.stats import norm

import blankets as bl
from blankets.cli._main import run
from blankets.errors import BlanketsWarning, DataError, ParameterError
from blankets.regimes import prior_from
from blankets.report import planner, report, report_content
from blankets.report._drawing import effect_scale
from blankets.report._html import Html, data_block, many, tag
from blankets.results import Blanket, NamedEvidence, PassedOver, shown
from hostile import NAMES, TARGET, hostile_table

EXPECTED_TAGS = set(
    "html head meta title style body main header section h1 h2 h3 p ul ol li dl dt dd div span strong b br details "
    "summary figure figcaption svg defs marker path rect circle line text g table thead tbody tr th td label input "
    "select option button noscript script pre code form".split()
)


class Reader(HTMLParser):
    """Collects tags, attributes and the JSON blocks of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.ids, self.blocks, self._block = set(), [], [], {}, None
        self.scripts = []
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.tags.add(name)
        given = dict(attributes)
        self.attributes += [(name, key, value) for key, value in attributes]
        if "id" in given:
            self.ids.append(given["id"])
        self._block = None
        if name == "script":
            self._block = given.get("id", "code")

    def handle_data(self, data):
        if self._block:
            self.blocks[self._block] = self.blocks.get(self._block, "") + data

    def handle_endtag(self, name):
        self._block = None


@pytest.fixture(scope="module")
def hostile():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        return bl.discover(hostile_table(), TARGET, alpha=0.05)


@pytest.fixture(scope="module")
def page(hostile, tmp_path_factory):
    shares = dict.fromkeys(hostile.members, 0.5)
    path = tmp_path_factory.mktemp("page") / "r.html"
    runs = [(0.2, list(hostile.members))]
    return report(hostile, path, source="<u>.csv", stability=shares, sensitivity=runs).read_text(encoding="utf-8")


def test_names_stay_text(page, hostile):
    assert len(hostile.members) >= 5
    reader = Reader(page)
    assert reader.tags <= EXPECTED_TAGS
    assert reader.tags.isdisjoint({"img", "u", "i", "iframe", "link", "a"})
    handlers = [(key, value) for _, key, value in reader.attributes if key.startswith("on")]
    assert handlers == []
    told = json.loads(reader.blocks["report-data"])
    names = {row["name"] for row in told["trail"]}
    assert {shown(name, 200) for name in NAMES} <= names


def test_nothing_can_be_loaded(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page).group(1)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for kind in ("style", "script"):
        text = re.search(rf"<{kind}>(.*?)</{kind}>", page, flags=re.DOTALL).group(1)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    loading = [(key, v) for _, key, v in Reader(page).attributes if key in ("src", "href", "srcset", "action")]
    assert loading == []
    inline = [v for _, key, v in Reader(page).attributes if key == "style"]
    assert inline == []  # the policy would forbid them


def test_head_and_structure(page):
    reader = Reader(page)
    assert ("html", "lang", "en") in reader.attributes
    assert "<title>Markov blanket of &lt;b&gt;ill&lt;/b&gt;</title>" in page
    assert any(key == "content" and "evidence for every column" in value for _, key, value in reader.attributes)
    assert len(reader.ids) == len(set(reader.ids))
    for figure in re.findall(r"<svg[^>]*>", page):
        assert "aria-label" in figure or 'aria-hidden="true"' in figure


def test_same_blanket_same_page(hostile, page, tmp_path):
    shares, runs = dict.fromkeys(hostile.members, 0.5), [(0.2, list(hostile.members))]
    again = report(hostile, tmp_path / "again.html", source="<u>.csv", stability=shares, sensitivity=runs)
    assert again.read_text(encoding="utf-8") == page


def test_a_report_of_very_many_columns_is_small_and_quick(tmp_path):
    n = 100_000
    names = tuple(f"expression_of_gene_{i:06d}" for i in range(n))
    zero = np.zeros(n, np.int64)
    statistic = np.linspace(0.1, 5.0, n)
    record = PassedOver(
        np.arange(n), zero, zero, statistic, np.ones(n), -statistic / 2, np.full(n, 900), np.ones(n, bool), ("grow",),
        (("age", "sex"),),
    )  # fmt: skip
    settings = {"alpha": 0.01, "test": "g"}
    blanket = Blanket(
        target="ill", members=(), strengths={}, algorithm="iamb", settings=settings, columns=(*names, "ill"),
        n_rows=900, passed_over=record,
    )  # fmt: skip
    began = time.process_time()
    file = report(blanket, tmp_path / "wide.html")
    assert time.process_time() - began < 15
    assert file.stat().st_size < 2_000_000
    rows = report_content(blanket)["trail"]["rows"]
    assert rows[0]["name"] == names[-1]  # the smallest p-value


def test_report_without_planner_and_without_members(tmp_path):
    blanket = Blanket(
        target="ill", members=(), strengths={}, algorithm="iamb", settings={}, columns=("age", "ill"), n_rows=9
    )
    text = blanket.report(tmp_path / "r.html", planner=False).read_text(encoding="utf-8")
    assert "BlanketsPlan" not in text
    assert 'id="neighborhood"' not in text
    assert "None of the 1 columns searched" in text


def test_latents_are_dashed_and_must_be_of_the_same_target(tmp_path):
    rng = np.random.default_rng(1)
    ill = rng.random(2000) < 0.4
    hidden = np.where(rng.random(2000) < 0.85, ill, ~ill)
    table = {name: np.where(rng.random(2000) < 0.8, hidden, ~hidden) for name in ("a", "b", "c")} | {"ill": ill}
    latent = bl.discover_latent(table, "ill", n_restarts=4, rng=0)
    text = bl.discover(table, "ill").report(tmp_path / "r.html", latent=latent).read_text(encoding="utf-8")
    assert text.count(f'class="box {latent.latents[0].position} latent"') == 2  # in both drawings
    assert "latent: not a column of the data" in text
    assert 'id="latents"' in text
    with pytest.raises(ParameterError, match="the latents are those of 'ill', but the blanket is that of 'a'"):
        bl.discover(table, "a").report(tmp_path / "r.html", latent=latent)


def test_a_folder_that_is_not_there(tmp_path):
    blanket = Blanket(target="y", members=(), strengths={}, algorithm="iamb", settings={}, columns=("y",), n_rows=9)
    with pytest.raises(DataError, match=r"cannot write .*nowhere/r.html.*: No such file or directory"):
        blanket.report(tmp_path / "nowhere" / "r.html")


def facts(prior):
    return prior_from(prior).facts


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, {"regime": "supervised", "effect": "0.02", "alpha": "0.01", "rows": "1000"}),
        # Through a surrogate with κ = 1/4 the information with the target is about four times as much.
        (
            {"labels": "pu", "kappa": 0.25, "prior_facts": facts(0.3), "alpha": 0.05, "labeled": {"positives": 100}},
            {"regime": "pu", "effect": "0.08", "alpha": "0.05", "labeled": "0.1", "prior": "0.3"},
        ),
        (
            {"labels": "pu", "prior_facts": facts(bl.Beta(mode=0.3, low=0.2, high=0.6)), "sampling": "case-control"},
            {"regime": "pu-apart", "priorKind": "beta", "labeled": "0.0005", "low": "0.2", "high": "0.6"},
        ),
        (
            {"labels": "mcar", "prior_facts": facts("<0.3"), "labeled": {"positives": 100, "negatives": 200}},
            {"regime": "mcar", "effect": "0.045", "labeled": "0.3", "prior": "0.2"},
        ),
        (
            {"labels": "mar-f", "labeled": {"positives": 100, "negatives": 200}},
            {"regime": "mcar", "labeled": "0.3"},
        ),
        (
            {
                "labels": "mar-c",
                "kappa": 0.5,
                "prior_facts": facts((0.2, 0.4)),
                "labeled": {"positives": 100, "negatives": 33},
            },
            {
                "regime": "mar-c",
                "effect": "0.04",
                "positives": "0.1",
                "negatives": "0.033",
                "priorKind": "between",
                "low": "0.2",
            },
        ),
        (
            {"labels": "mar-c", "prior_facts": facts(norm(0.3, 0.05 / norm.ppf(0.95)))},
            {"regime": "mar-c", "priorKind": "between", "low": "0.25", "high": "0.35"},
        ),
        ({"labels": "noisy", "prior_facts": facts(0.3)}, {"regime": "supervised"}),
        ({"labels": "pu", "prior_facts": facts(0.001)}, {"regime": "pu", "priorKind": "exact", "prior": "0.2"}),
    ],
)
def test_planner_opens_with_the_numbers_of_the_study(settings, expected, tmp_path):
    e = NamedEvidence(x="a", y="y", statistic=40.0, dof=1, log_p=-20.0, effect=0.02, n_rows=1000)
    blanket = Blanket(
        target="y", members=("a",), strengths={"a": e}, algorithm="iamb", settings=settings, columns=("a", "y"),
        n_rows=1000,
    )  # fmt: skip
    text = blanket.report(tmp_path / "r.html").read_text(encoding="utf-8")
    chosen = {name: expected.pop(name) for name in ("regime", "priorKind") if name in expected}
    for value in chosen.values():
        assert f'<option value="{value}" selected="">' in text
    assert ("its answers are a guide" in text) == (settings.get("labels") == "mar-f")
    for name, value in expected.items():
        assert re.search(rf'id="plan-{name}" name="{name}" value="([^"]+)"', text).group(1) == value


# Pieces ----------------------------------------------------------------------------------------------------------


def test_tags_escape_what_is_not_html():
    assert tag("p", "<", None, tag("b", "&"), title="'\"") == '<p title="&#x27;&quot;">&lt;<b>&amp;</b></p>'
    assert many("<", Html("<br/>"), 3) == "&lt;<br/>3"


def test_data_blocks_survive_anything():
    content = {"</script>": ["<!--", "\ud800", "\u2028", "'\"&"]}
    block = data_block(content, "d")
    inner = re.fullmatch(r'<script type="application/json" id="d">(.*)</script>', block).group(1)
    assert "<" not in inner
    assert json.loads(inner) == content


# Planner and command line ----------------------------------------------------------------------------------------


def test_planner_page_is_self_contained(tmp_path):
    text = planner(tmp_path / "p.html", regime="pu", prior=0.3).read_text(encoding="utf-8")
    reader = Reader(text)
    assert [v for _, key, v in reader.attributes if key in ("src", "href", "style")] == []
    assert len(reader.ids) == len(set(reader.ids))
    assert ("input", "value", "0.3") in reader.attributes
    assert '<option value="pu" selected="">' in text
    assert len(text) < 100_000


@pytest.mark.parametrize("regime", ["noisy", "predicted"])
def test_planner_asks_how_often_labels_are_wrong(regime, tmp_path):
    text = planner(tmp_path / "p.html", regime=regime, false_positive=0.07, prior=0.3).read_text(encoding="utf-8")
    assert f'<option value="{regime}" selected="">' in text
    assert 'name="false_positive" value="0.07"' in text


@pytest.mark.parametrize(
    ("start", "message"),
    [
        ({"regime": "mar-f"}, "'mar-f'"),
        ({"effct": 1}, "'effct'"),
        ({"alpha": 0.9}, "alpha.*between 1e-05 and 0.2"),
    ],
)
def test_planner_refuses_what_its_page_would_not_take(start, message, tmp_path):
    with pytest.raises(ParameterError, match=message):
        planner(tmp_path / "p.html", **start)


def test_commands_write_pages(tmp_path, capsys, monkeypatch):
    opened = []
    monkeypatch.setattr("click.launch", opened.append)
    page = tmp_path / "plan it.html"
    assert run(["planner", "-o", str(page), "--no-open"]) == 0
    assert capsys.readouterr().out == f"{page}\n"
    assert page.exists()
    assert opened == []
    assert run(["planner", "-o", str(page), "--open"]) == 0
    assert opened == [page.as_uri()]
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "0,0\n1,1\n" * 30)
    assert run(["discover", str(table), "-t", "y", "--report", str(tmp_path / "r.html"), "-q"]) == 0
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "t.csv --target y" in text
    assert run(["discover", str(table), "-t", "y", "--report", str(tmp_path / "no" / "r.html")]) == 2
    assert "there is no folder" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("largest", "words"), [(0.6, "small large"), (0.14, "small medium large"), (0.06, "small medium")]
)
def test_words_of_the_scale_do_not_overlap(largest, words):
    marks = {"small": 0.005, "medium": 0.045, "large": 0.125}
    drawn = ElementTree.fromstring(str(effect_scale({"largest": largest, "marks": marks})))
    texts = [(float(text.get("x")), text.text) for text in drawn]
    assert [word for _, word in texts] == words.split()
    half = 3.2  # units of half a letter, 11 px in bold
    for (left, one), (right, other) in pairwise(texts):
        assert left + half * len(one) < right - half * len(other)


def test_blank_names_are_seen():
    rng = np.random.default_rng(0)
    t = rng.integers(0, 2, 300)
    page = str(bl.discover({"": np.where(rng.random(300) < 0.1, 1 - t, t), " ": rng.integers(0, 2, 300), "t": t}, "t"))
    assert "\n  ''      1 vs 0" in page
