"""The audit of a table of numbers does not take its own cuts for levels of the user."""

import numpy as np

import blankets as bl


def test_cuts_of_the_audit_are_no_rare_levels_and_no_reason_against_tests():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 120))
    table = {"a": a, "b": b, "c": np.repeat(["x", "y", "z"], [70, 48, 2]), "y": a + rng.normal(size=120)}
    found = {one.kind: one.columns for one in bl.audit(table, "y").findings}
    assert found == {"rare levels": ("c",)}
    cut = {one.kind for one in bl.audit(table, "y", discretize="sturges").findings}
    assert "untestable" in cut
