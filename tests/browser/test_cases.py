"""Pages about every regime of labels, and about blankets that a designer did not think of."""

import warnings

import numpy as np
import pandas as pd
import pytest

import blankets as bl
from blankets.errors import BlanketsWarning
from blankets.results import Blanket, NamedEvidence
from browser.looks import PALE_TEXTS, WIDER_THAN_SCREEN

SCRIPT = "<script>document.title = 'broken'</script>"


def table():
    rng = np.random.default_rng(0)
    n = 2000
    ill = rng.random(n) < 0.4
    return (
        rng,
        ill,
        {
            "fever": rng.random(n) < np.where(ill, 0.7, 0.3),
            SCRIPT: rng.random(n) < np.where(ill, 0.5, 0.3),
            "ward": rng.choice([SCRIPT, "A", "B"], n),
        },
    )


REGIMES = {
    "supervised": ("supervised", 1.0, 1.0, None, "supervised"),
    "pu": ("pu", 0.5, 0.0, bl.Beta(mode=0.4, low=0.3, high=0.6), "pu"),
    "apart": (bl.PositiveUnlabeled(prior=0.4, sampling="case-control"), 0.5, 0.0, None, "pu-apart"),
    "mcar": ("mcar", 0.5, 0.5, None, "mcar"),
    "mar-c": ("mar-c", 0.5, 0.2, (0.3, 0.5), "mar-c"),
    "mar-f": ("mar-f", 0.5, 0.5, None, "mcar"),
}


@pytest.fixture(scope="module", params=REGIMES)
def regime_report(request, tmp_path_factory):
    labels, of_positives, of_negatives, prior, opens_as = REGIMES[request.param]
    rng, ill, columns = table()
    known = rng.random(len(ill)) < np.where(ill, of_positives, of_negatives)
    frame = pd.DataFrame(columns).assign(ill=pd.Series(np.where(ill, "yes", "no")).where(known))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BlanketsWarning)
        blanket = bl.discover(frame, "ill", labels=labels, prior=prior, positive="yes", roles=True)
    path = tmp_path_factory.mktemp("pages") / f"{SCRIPT.replace('/', '')}.html"
    return blanket.report(path, source=f"{SCRIPT}.csv"), opens_as


@pytest.mark.parametrize(("width", "scheme"), [(380, "light"), (1280, "dark")])
def test_every_regime_has_a_page_with_its_own_planner(visit, regime_report, width, scheme):
    path, opens_as = regime_report
    page = visit(path, width=width, scheme=scheme)
    assert page.title() == "Markov blanket of ill"
    assert page.locator("script").count() == page.evaluate("document.scripts.length")
    page.click("#planner-section summary")
    assert page.locator("#plan-regime").input_value() == opens_as
    assert page.locator("#plan-answer").inner_text().startswith("Rows needed: ")
    page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    assert page.evaluate(PALE_TEXTS)["pale"] == []
    page.fill("#find", SCRIPT)
    assert page.locator("#columns .name").first.inner_text() == SCRIPT


def blanket_of(names, target="ill"):
    strengths = {
        name: NamedEvidence(x=name, y=target, statistic=90.0 - i / 3, dof=1, log_p=-40.0, effect=0.045, n_rows=1000)
        for i, name in enumerate(names)
    }
    return Blanket(
        target=target, members=tuple(names), strengths=strengths, algorithm="iamb", n_rows=1000,
        settings={"alpha": 0.01, "test": "g"}, columns=(*names, "other", target),
    )  # fmt: skip


ODD = {
    "nothing": blanket_of([]),
    "one": blanket_of(["fever"]),
    "two hundred": blanket_of([f"gene {i}" for i in range(200)]),
    "long": blanket_of(["x" * 80, "y " * 40, "z_" * 40], target="t" * 80),
    "unicode": blanket_of(["体温", "температура", "🌡️ °C", "الحرارة", "e\u0301a\u0308"], target="病気 𝛼"),
    "odd": blanket_of(["", " ", "a\nb", "\u202egnorw", "$x^2$", "&amp;", "'\"`"], target="\\"),
}


@pytest.mark.parametrize("width", [380, 1280])
@pytest.mark.parametrize("case", ODD)
def test_odd_blankets_have_a_page_too(visit, case, width, tmp_path):
    blanket = ODD[case]
    page = visit(blanket.report(tmp_path / "odd.html"), width=width)
    assert page.evaluate(WIDER_THAN_SCREEN) <= 0
    assert page.evaluate(PALE_TEXTS)["pale"] == []
    drawn = page.locator(f"svg.graph.{'tall' if width < 600 else 'wide'} .box").count()
    assert drawn == (min(len(blanket), 60) + 1 if blanket.members else 0)
    page.select_option("#which", "member")
    members = f"{len(blanket)} column{'' if len(blanket) == 1 else 's'}"
    told = page.locator("#count").inner_text()
    assert told in (members, f"50 of {members}") if blanket.members else "No column" in told


def test_page_about_latents(visit, tmp_path):
    rng, ill, _ = table()
    hidden = np.where(rng.random(2000) < 0.85, ill, ~ill)
    columns = {name: np.where(rng.random(2000) < 0.8, hidden, ~hidden) for name in ("a", SCRIPT, "c")} | {"ill": ill}
    found = bl.discover_latent(columns, "ill", n_restarts=4, rng=0)
    for width, scheme in ((380, "dark"), (1280, "light")):
        page = visit(found.report(tmp_path / "latent.html"), width=width, scheme=scheme)
        assert page.title() == "Latent Markov blanket of ill"
        assert page.evaluate(WIDER_THAN_SCREEN) <= 0
        assert page.evaluate(PALE_TEXTS)["pale"] == []
        assert page.locator("svg g.box").count() == len(found.graph)
        assert page.locator("svg").get_attribute("aria-label").startswith("Local network of ill: ")
