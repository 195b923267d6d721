"""The command line: what goes where, with which exit code, and what Ctrl-C leaves behind."""

import csv
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import blankets
from blankets.cli._main import run
from blankets.errors import BlanketsWarning, ConstantColumnWarning, DataError, Interrupted
from blankets.results import Blanket

SPRINKLER = """
network sprinkler {}
variable rain { type discrete [ 2 ] { no, yes }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable wet { type discrete [ 2 ] { no, yes }; }
probability ( rain ) { table 0.7, 0.3; }
probability ( sprinkler ) { table 0.6, 0.4; }
probability ( wet | rain, sprinkler ) {
  (no, off) 0.95, 0.05;
  (yes, off) 0.2, 0.8;
  (no, on) 0.3, 0.7;
  (yes, on) 0.05, 0.95;
}
"""


@pytest.fixture
def table(tmp_path):
    """rain -> wet <- sprinkler, and a moon that matters to nobody; 2,000 rows."""
    rng = np.random.default_rng(5)
    rain, sprinkler, moon = (rng.random((3, 2000)) < [[0.3], [0.4], [0.5]]).astype(int)
    wet = (rng.random(2000) < np.where(rain | sprinkler, 0.8, 0.1)).astype(int)
    path = tmp_path / "weather.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["rain", "sprinkler", "moon", "wet"])
        writer.writerows(zip(rain, sprinkler, moon, wet, strict=True))
    return str(path)


@pytest.fixture
def network(tmp_path):
    path = tmp_path / "sprinkler.bif"
    path.write_text(SPRINKLER)
    return str(path)


# The group -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [[], ["discover"], ["explain"], ["refute"], ["algorithms"], ["simulate"]])
def test_help_has_examples(command, capsys):
    assert run([*command, "--help"]) == 0
    out = capsys.readouterr().out
    assert "Examples:\n" in out
    assert f"  blankets {' '.join(command)}".rstrip() in out


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"blankets, version {blankets.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["discver"], "No such command 'discver'; did you mean 'discover'?"),
        (["xyz"], "No such command 'xyz'."),
        (["discover", "https://example.org/a.csv", "-t", "a"], "is an address, not a file; download the data"),
        (["discover"], "Missing argument 'FILE'"),
        (["discover", "nothing.csv", "-t", "a"], "there is no file 'nothing.csv'"),
        (["discover", __file__], "Say with --target which column"),
        (["discover", __file__, "-t", "a", "--option", "k"], "'k' is not of the form NAME=VALUE"),
        (["discover", __file__, "-t", "a", "--save", "no/such/folder.json"], "there is no folder 'no/such'"),
        (
            ["discover", __file__, "-t", "a", "--jobs", "0"],
            "must be a number of threads, at least 1, or -1 for all processors, but it is 0",
        ),
        (["simulate", __file__, "--rows", "5", "-o", "x.txt"], "'x.txt' ends neither in .csv nor in .parquet"),
    ],
)
def test_wrong_usage_is_2(arguments, message, capsys):
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert message in err
    assert out == ""


def test_options_that_are_a_little_alike_are_not_suggested(capsys):
    assert run(["discover", __file__, "--traget", "a"]) == 2
    err = capsys.readouterr().err
    assert "--target" in err
    assert "--strength" not in err


# discover --------------------------------------------------------------------------------------------


def test_discover_prints_the_blanket(table, capsys):
    assert run(["discover", table, "--target", "wet"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("Markov blanket of wet: 2 of 3 columns\n")
    assert {"rain", "sprinkler"} == {line.split()[0] for line in out.splitlines()[3:5]}
    assert "--verbose explains the table" in out
    assert err == ""  # not a terminal: no progress


def test_discover_json_is_one_document(table, capsys):
    assert run(["discover", table, "-t", "wet", "--json", "--algorithm", "iamb", "--explain", "moon"]) == 0
    out, err = capsys.readouterr()
    content = json.loads(out)
    assert set(content["members"]) == {"rain", "sprinkler"}
    assert (content["algorithm"], content["schema_version"]) == ("iamb", 4)
    assert [e["verdict"] for e in content["explanations"]] == ["left out"]
    assert Blanket.from_dict(content).target == "wet"
    assert err == ""


def test_discover_save_then_explain(table, tmp_path, capsys):
    saved = str(tmp_path / "result.json")
    assert run(["discover", table, "-t", "wet", "--save", saved, "--explain", "rain", "--explain", "moon"]) == 0
    out = capsys.readouterr().out
    assert "\nrain is in the Markov blanket of wet.\n" in out
    assert "\nmoon is not in the Markov blanket of wet.\n" in out
    assert run(["explain", saved, "rain", "moon"]) == 0
    again = capsys.readouterr().out
    for line in again.splitlines():
        assert line in out
    assert run(["explain", saved, "moon", "--json"]) == 0
    assert [e["column"] for e in json.loads(capsys.readouterr().out)] == ["moon"]


def test_only_what_the_user_chose_is_passed_on(table, monkeypatch, capsys):
    seen = {}

    def spy(file, **arguments):
        seen.update(arguments, file=file)
        raise DataError("enough seen")

    monkeypatch.setattr(blankets, "discover", spy)
    assert run(["discover", table, "-t", "wet"]) == 3
    assert seen == {"file": table, "target": "wet", "roles": False, "progress": False}
    seen.clear()
    arguments = (
        "--alpha 0.05 --test x2 --dof nominal --reliability 1 --strength information --discretize sturges --n-bins 4"
    )
    arguments += " --missing level --keep a --keep b --exclude c --roles --seed 7 --jobs 2 --option max-given=3"
    assert run(["discover", table, "-t", "wet", *arguments.split()]) == 3
    assert seen == {
        "file": table,
        "target": "wet",
        "alpha": 0.05,
        "test": blankets.Testing("x2", "nominal", 1.0, "information"),
        "discretize": "sturges",
        "n_bins": 4,
        "missing": "level",
        "keep": ("a", "b"),
        "exclude": ("c",),
        "roles": True,
        "rng": 7,
        "n_jobs": 2,
        "options": {"max_given": 3},
        "progress": False,
    }
    assert run(["discover", table, "-t", "wet", "--discretize", "wet=number"]) == 3
    assert seen["discretize"] == {"wet": "number"}


def test_advice_about_a_count_can_be_followed_to_the_letter(tmp_path, capsys):
    rng = np.random.default_rng(17)
    age = rng.integers(20, 80, 600)
    path = tmp_path / "visits.csv"
    rows = zip(age, rng.poisson(np.exp((age - 50) / 20)).clip(0, 8), strict=True)
    path.write_text("age,visits\n" + "".join(f"{a},{v}\n" for a, v in rows))
    assert run(["discover", str(path), "-t", "visits"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "test it as a number: --discretize visits=number." in said
    assert run(["discover", str(path), "-t", "visits", "--discretize", "visits=number"]) == 0
    assert "difference (95% interval)" in capsys.readouterr().out


def test_bad_data_is_3_without_a_traceback(table, tmp_path, capsys):
    assert run(["discover", table, "-t", "wat"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("blankets: ")
    assert "did you mean 'wet'" in err
    assert "Traceback" not in err
    rubbish = tmp_path / "rubbish.json"
    rubbish.write_text("{}")
    assert run(["explain", str(rubbish), "rain"]) == 3
    assert "this is not a saved result" in capsys.readouterr().err


def test_bad_parameters_are_wrong_usage(table, capsys):
    assert run(["discover", table, "-t", "wet", "--algorithm", "imab"]) == 2
    assert "unknown algorithm 'imab'; did you mean 'iamb'?" in capsys.readouterr().err
    assert run(["discover", table, "-t", "wet", "--alpha", "2"]) == 2
    assert "'alpha' must be" in capsys.readouterr().err


def test_a_file_that_cannot_be_written(table, tmp_path, capsys):
    (tmp_path / "locked.json").mkdir()
    assert run(["discover", table, "-t", "wet", "--save", str(tmp_path / "locked.json")]) == 2
    assert "is a directory" in capsys.readouterr().err
    assert run(["discover", table, "-t", "wet", "--save", "/dev/full"]) == 3  # a disk without space
    assert capsys.readouterr() == ("", "blankets: cannot write '/dev/full': No space left on device\n")


def found(**changes):
    arguments = {"target": "wet", "members": (), "strengths": {}, "algorithm": "iamb", "settings": {}}
    return Blanket(**arguments | {"columns": ("wet", "rain"), "n_rows": 9} | changes)


def test_warnings_become_notes(table, monkeypatch, capsys):
    def fake(file, **arguments):
        warnings.warn("column 'moon' has\n one value", ConstantColumnWarning, stacklevel=2)
        warnings.warn("column 'moon' has\n one value", ConstantColumnWarning, stacklevel=2)
        warnings.warn("said in the result", BlanketsWarning, stacklevel=2)
        return found(warnings=("said in the result",))

    monkeypatch.setattr(blankets, "discover", fake)
    assert run(["discover", table, "-t", "wet"]) == 0
    out, err = capsys.readouterr()
    assert err == "note: column 'moon' has one value\n"
    assert out.count("note: said in the result") == 1
    assert run(["discover", table, "-t", "wet", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_other_warnings_stay_pythons(table, monkeypatch):
    def fake(file, **arguments):
        warnings.warn("not ours", RuntimeWarning, stacklevel=2)
        return found()

    monkeypatch.setattr(blankets, "discover", fake)
    with pytest.raises(RuntimeWarning, match="not ours"):  # pytest makes them errors
        run(["discover", table, "-t", "wet"])


# Ctrl-C ----------------------------------------------------------------------------------------------


def test_stopping_is_130_and_says_what_was_found(table, monkeypatch, capsys):
    def fake(file, **arguments):
        raise Interrupted("wet", ["rain"], "growing")

    monkeypatch.setattr(blankets, "discover", fake)
    assert run(["discover", table, "-t", "wet"]) == 130
    err = capsys.readouterr().err
    assert "blankets: stopped while growing" in err
    assert "found so far: 'rain'" in err
    monkeypatch.setattr(blankets, "discover", lambda file, **arguments: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run(["discover", table, "-t", "wet"]) == 130
    assert "blankets: stopped\n" in capsys.readouterr().err


STOPPABLE = """
import sys, time, blankets
from blankets.cli import main
from blankets.errors import Interrupted
def slow(file, progress, **arguments):
    progress("growing [red] with 1 member")
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise Interrupted("wet", ["rain"], "growing") from None
blankets.discover = slow
sys.argv = ["blankets", "discover", sys.argv[1], "--target", "wet"]
main()
"""


def in_a_terminal(code, *arguments, stop_at=None, env=None):
    """Run Python code with a terminal, send Ctrl-C once ``stop_at`` is on it; return exit code and screen."""
    pid, screen = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background shell has it ignored
        os.environ.update({"TERM": "xterm", "COLUMNS": "100"} | (env or {}))
        os.execv(sys.executable, [sys.executable, "-c", textwrap.dedent(code), *arguments])
    text, stopped, until = b"", False, time.monotonic() + 60
    while time.monotonic() < until:
        if select.select([screen], [], [], 0.2)[0]:
            try:
                part = os.read(screen, 65536)
            except OSError:  # Linux: the other end has closed
                break
            if not part:
                break
            text += part
        if stop_at and not stopped and stop_at in text:
            os.write(screen, b"\x03")
            stopped = True
    else:
        os.kill(pid, signal.SIGKILL)
    status = os.waitpid(pid, 0)[1]
    os.close(screen)
    return os.waitstatus_to_exitcode(status), text.decode()


def test_ctrl_c_leaves_the_terminal_clean(table):
    code, screen = in_a_terminal(STOPPABLE, table, stop_at=b"growing [red] with 1 member")
    assert code == 130
    assert "found so far: 'rain'" in screen
    assert "Traceback" not in screen
    hidden, shown = screen.rfind("\x1b[?25l"), screen.rfind("\x1b[?25h")
    assert 0 <= hidden < shown < screen.index("blankets: stopped")  # the cursor is back before the message


SHOWN = """
import sys, blankets
from blankets.cli import main
sys.argv = ["blankets", *sys.argv[1:]]
main()
"""


def test_colors_in_a_terminal_unless_unwanted(table):
    code, screen = in_a_terminal(SHOWN, "discover", table, "-t", "wet")
    assert code == 0
    assert "\x1b[1mMarkov" in screen
    code, screen = in_a_terminal(SHOWN, "discover", table, "-t", "wet", "--quiet", env={"NO_COLOR": "1"})
    assert code == 0
    assert "rain" in screen
    assert "\x1b[36m" not in screen


# The others ------------------------------------------------------------------------------------------


def test_algorithms(capsys):
    assert run(["algorithms"]) == 0
    out = capsys.readouterr().out
    listed = json_of(["algorithms", "--json"], capsys)
    assert len(listed) >= 5
    for entry in listed:
        assert f"\n{entry['name']} " in out
        assert set(entry) == {"name", "finds", "sound", "roles", "options", "when", "reference"}


def json_of(arguments, capsys):
    assert run(arguments) == 0
    return json.loads(capsys.readouterr().out)


def test_versions(capsys):
    content = json_of(["versions", "--json"], capsys)
    assert content["blankets"] == blankets.__version__
    assert content["numpy"] == np.__version__
    assert run(["versions"]) == 0
    assert f"numpy         {np.__version__}\n" in capsys.readouterr().out


def test_versions_of_what_is_not_installed(monkeypatch, capsys):
    from blankets.cli import _doctor

    monkeypatch.setattr(_doctor, "_OPTIONAL", ("no-such-package",))
    assert run(["versions"]) == 0
    assert "no-such-package  not installed\n" in capsys.readouterr().out


def test_simulate_csv_and_parquet_agree(network, tmp_path, capsys):
    import pyarrow.parquet as pq

    paths = [str(tmp_path / name) for name in ("rows.csv", "rows.parquet")]
    for path in paths:
        assert run(["simulate", network, "--rows", "4000", "--seed", "3", "-o", path]) == 0
        out, err = capsys.readouterr()
        assert (out, err) == ("", f"wrote 4,000 rows of 3 columns to {path}\n")
    with open(paths[0], newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == pq.read_table(paths[1]).to_pylist()
    assert len(rows) == 4000
    # P(rain) = 0.3; four standard errors of 4,000 draws are 0.029.
    assert np.mean([row["rain"] == "yes" for row in rows]) == pytest.approx(0.3, abs=0.029)
    assert run(["simulate", network, "--rows", "4000", "--seed", "3"]) == 0
    with open(paths[0], newline="") as file:
        assert capsys.readouterr().out == file.read()


def test_simulate_refuses(network, tmp_path, monkeypatch, capsys):
    broken = tmp_path / "broken.bif"
    broken.write_text("network x {} variable {")
    assert run(["simulate", str(broken), "--rows", "3"]) == 3
    assert capsys.readouterr().err.startswith("blankets: ")
    assert run(["simulate", network, "--rows", "3", "-o", str(tmp_path / "no" / "rows.csv")]) == 3
    assert "cannot write" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run(["simulate", network, "--rows", "3", "-o", str(tmp_path / "rows.parquet")]) == 3
    assert "writing Parquet needs the package 'pyarrow'; install it with: pip install 'blankets[arrow]'" in (
        capsys.readouterr().err
    )


# The process -----------------------------------------------------------------------------------------


def test_the_installed_command_runs():
    command = [sys.executable, "-c", "from blankets.cli import main; main()"]
    done = subprocess.run([*command, "discover", "nothing.csv"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "there is no file 'nothing.csv'" in done.stderr
    command.insert(1, "-Ximporttime")
    helped = subprocess.run([*command, "--help"], capture_output=True, text=True)
    assert helped.returncode == 0
    assert "blankets.cli" in helped.stderr  # what was imported is told there
    for heavy in ("scipy", "sklearn", "networkx", "pyarrow", "pandas"):
        assert heavy not in helped.stderr, heavy


def test_a_closed_pipe_is_not_an_error_message(network):
    code = "from blankets.cli import main; main()"
    command = f'"{sys.executable}" -c "{code}" simulate "{network}" --rows 100000 | head -1'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout == "rain,sprinkler,wet\n"
    assert "Traceback" not in done.stderr


def test_latent_as_json(tmp_path, capsys):
    rng = np.random.default_rng(0)
    hidden = rng.random(1500) < 0.4
    columns = {name: rng.random(1500) < np.where(hidden, 0.85, 0.15) for name in ("a", "b", "t")}
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.astype(int) for column in columns.values()), strict=True))
    saved = tmp_path / "found.json"
    arguments = ["latent", str(tmp_path / "rows.csv"), "-t", "t", "--restarts", "2", "--seed", "0"]
    assert run([*arguments, "--json", "--save", str(saved)]) == 0
    content = json.loads(capsys.readouterr().out)
    assert (content["target"], content["schema_version"]) == ("t", 4)
    assert json.loads(saved.read_text()) == content
    assert run([*arguments, "--save", str(tmp_path / "no" / "where.json")]) == 2


def test_a_report_on_partial_labels_shows_other_priors(tmp_path):
    rng = np.random.default_rng(3)
    ill = rng.random(1500) < 0.3
    seen = rng.random(1500) < np.where(ill, 0.5, 0.2)
    cough = rng.random(1500) < np.where(ill, 0.7, 0.2)
    rows = [
        ("cough", "coin", "ill"),
        *zip(cough, rng.integers(0, 2, 1500), np.where(seen, ill.astype(int), ""), strict=True),
    ]
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    page = tmp_path / "ill.html"
    arguments = ["discover", str(tmp_path / "rows.csv"), "-t", "ill", "--labels", "mar-c", "--prior", "<0.5"]
    assert run([*arguments, "--report", str(page)]) == 0
    assert "p(y=1) =" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("when", "--date-order mdy (month first), or leave the column out with --exclude COLUMN\n"),
        (
            "gap",
            "choose --missing testwise (each test uses the rows that have what it needs), --missing drop (such",
        ),
    ],
)
def test_messages_speak_of_options(tmp_path, capsys, column, said):
    cells = ((i % 2, i % 3, f"0{1 + i % 3}/0{1 + i % 2}/2020", ["", "a", "b"][i % 3]) for i in range(60))
    rows = ["t,x,when,gap", *(",".join(map(str, row)) for row in cells)]
    (tmp_path / "odd.csv").write_text("\n".join(rows))
    others = {"when", "gap"} - {column}
    asked = [
        "discover",
        str(tmp_path / "odd.csv"),
        "--target",
        "t",
        "--exclude",
        *others,
        "--missing",
        "error",
        "--keep",
        column,
    ]
    assert run(asked) == 3
    assert said in capsys.readouterr().err


def test_notes_speak_of_options(tmp_path, capsys):
    rows = ["t,x,id"] + [f"{i % 2},{i % 3},u{i}" for i in range(60)]
    (tmp_path / "ids.csv").write_text("\n".join(rows))
    assert run(["discover", str(tmp_path / "ids.csv"), "--target", "t"]) == 0
    assert "'id'; --keep COLUMN keeps them" in capsys.readouterr().err


def test_the_label_regimes_are_offered_as_options(tmp_path, capsys):
    (tmp_path / "part.csv").write_text("t,x\n" + "1,0\n0,1\n,1\n" * 20)
    assert run(["rank", str(tmp_path / "part.csv"), "--target", "t"]) == 0
    assert "are left out; say with --labels if" in capsys.readouterr().err
    assert run(["advise", str(tmp_path / "part.csv"), "--target", "t"]) == 3
    assert "say how labels went missing, with --labels one of\n  'mcar'" in capsys.readouterr().err


def test_latent_with_missing_labels(tmp_path, capsys):
    rng = np.random.default_rng(3)
    t = rng.integers(0, 2, 300)
    x = np.where(rng.random(300) < 0.2, 1 - t, t)
    rows = [f"{'' if i % 4 == 0 else t[i]},{x[i]},name{i}" for i in range(300)]
    (tmp_path / "rows.csv").write_text("t,x,who\n" + "\n".join(rows))
    asked = ["latent", str(tmp_path / "rows.csv"), "-t", "t", "--restarts", "2", "--seed", "0", "--exclude", "who"]
    assert run(asked) == 0
    assert "75 of 300 rows have no value of the target and are left out" in capsys.readouterr().err
    assert run([*asked, "--labels", "mcar", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["labels"] == "mcar"


STORED = Path(__file__).parents[1] / "stored"
RESULTS = {"discover": "blanket", "rank": "ranking", "select": "selection", "refute": "refutation", "advise": "advice"}


@pytest.mark.parametrize(
    "name", ["discover", "audit", "rank", "select", "sensitivity", "stability", "advise", "refute"]
)
def test_examples_with_jq_name_what_the_json_has(name, capsys):
    assert run([name, "--help"]) == 0
    keys = re.findall(r"jq '?\.(\w+)", capsys.readouterr().out)
    assert keys
    assert set(keys) <= set(json.loads((STORED / f"{RESULTS.get(name, name)}-4.json").read_text()))


def test_columns_called_like_options_are_not_printed_as_flags(tmp_path, capsys):
    rng = np.random.default_rng(5)
    sick = rng.integers(0, 2, 400)
    near = np.where(np.arange(400) == 7, 1 - sick, sick)
    path = tmp_path / "odd.csv"
    pd.DataFrame({"missing=1": near, "test=0": rng.integers(0, 2, 400), "sick": sick}).to_csv(path, index=False)
    assert run(["discover", str(path), "-t", "sick", "--explain", "test=0"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "missing=1 alone tells sick" in out
    assert "--exclude missing=1" in out
    assert "test=0 is not in the Markov blanket of sick." in out
    assert "--missing 1" not in out
    assert "--test 0" not in out
