"""From a raw file to an answer: each command after the first is read off what the one before printed."""

import csv
import re
import shlex
from datetime import date, timedelta

import numpy as np
import pytest

from blankets.cli._main import run

PATIENTS, FIRST = 500, "discover raw.csv --target readmitted"


@pytest.fixture
def raw(tmp_path, monkeypatch):
    """Lay a file as a hospital sends it: of its columns, only smoking and the stage make anyone come back."""
    rng = np.random.default_rng(22)
    rows = []
    for patient in range(PATIENTS):
        for _ in range(rng.integers(1, 4)):
            smokes, stage, ward = rng.random() < 0.4, int(rng.integers(0, 3)), "ABC"[rng.integers(0, 3)]
            back = rng.random() < [[0.08, 0.25, 0.5], [0.3, 0.6, 0.9]][smokes][stage]
            seen = date(2021, 1, 1) + timedelta(days=int(rng.integers(0, 900)))
            bill = 1900.0 + 400.0 * stage + 400.0 * rng.standard_normal()  # tells about the stage only
            kept = ["yes" if smokes else "no", f"stage {'I' * (stage + 1)}", f"{bill:,.2f} €".replace(",", " ")]
            holes = [word if rng.random() > 0.06 else rng.choice(["", "?", "NA", "n/a"]) for word in kept]
            gone = ["R1", "readmitted"] if back else [f"H{rng.integers(0, 2)}", "closed"]
            rows.append([f"P{7 * patient:05}", seen.strftime("%d.%m.%Y"), *holes, ward, "10"[not back], *gone])
    rng.shuffle(rows)
    with (tmp_path / "raw.csv").open("w", encoding="cp1252", newline="") as file:
        writer = csv.writer(file, delimiter=";")
        writer.writerow(
            ["patient_id", "seen", "smoker", "tumor", "bill", "ward", "readmitted", "discharge code", "status"]
        )
        writer.writerows(rows)
    monkeypatch.chdir(tmp_path)


def suggested(printed):
    """Return the words of the command that was suggested, None if there is none."""
    found = re.search(r"run:\n +blankets (.+)\n", printed)
    return found and shlex.split(found[1])


def members(printed):
    below = printed.split("----\n")[-1].splitlines()
    return {line.split()[0] for line in below if re.search(r"\d \([-\d.e]+ to ", line)}


@pytest.mark.parametrize("first", [FIRST, "audit raw.csv -t readmitted"])
def test_three_commands_are_enough(raw, capsys, first):
    words, commands = first.split(), []
    while words is not None:
        commands.append(words)
        assert len(commands) <= 3
        assert run(words) == 0
        printed = capsys.readouterr().out
        words = suggested(printed)
    # Two leaks, of which one hides the other, and patients who came more than once.
    assert "--exclude 'discharge code'" in shlex.join(commands[-1])
    assert {"status", "--groups", "patient_id"} <= set(commands[-1])
    assert members(printed) == {"smoker", "tumor"}
    assert "check:" not in printed


def test_what_is_missing_from_a_command_is_said(raw, capsys):
    assert run(["raw.csv"]) == 2
    assert run(shlex.split(re.search("Try: blankets (.+)\n", capsys.readouterr().err)[1])) == 2
    said = capsys.readouterr().err
    assert "Say with --target which column the question is about.\nThe columns of raw.csv are 'patient_id', " in said
    assert "'readmitted'" in said
