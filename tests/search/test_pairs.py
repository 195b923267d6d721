"""Closing asks for columns that act only together."""

import numpy as np
import pytest

import blankets as bl

pytestmark = pytest.mark.filterwarnings("ignore::blankets.errors.BlanketsWarning")


class TestTogether:
    """Columns outside that act only together."""

    def table(self, n=1500, seed=0):
        rng = np.random.default_rng(seed)
        made = {f"x{k}": rng.normal(size=n) for k in range(5)}
        one, other = rng.integers(0, 2, size=(2, n))
        made |= {"drug": np.where(one, "yes", "no"), "marker": np.where(other, "high", "low")}
        return made | {"y": made["x0"] + 0.8 * (one ^ other) + rng.normal(size=n)}

    def test_they_enter_and_are_named(self):
        blanket = bl.discover(self.table(), "y")
        assert set(blanket.members) == {"x0", "drug", "marker"}
        assert any("only together: by itself, neither does" in note for note in blanket.warnings)
        assert not any("removing each other" in note for note in blanket.warnings)
        assert "together with marker" in str(blanket.explain("drug"))

    def test_of_too_many_columns_this_is_not_asked_and_said(self):
        rng = np.random.default_rng(1)
        made = self.table() | {f"n{k}": rng.normal(size=1500) for k in range(400)}
        blanket = bl.discover(made, "y")
        assert "drug" not in blanket
        assert any("not looked for among 406 columns" in note for note in blanket.warnings)
