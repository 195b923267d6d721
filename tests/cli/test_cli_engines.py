"""The command line on folders, packed codes, a cluster, and with a checkpoint."""

import json

import numpy as np
import pandas as pd
import pytest

from blankets.cli._main import BAD_DATA, WRONG_USAGE, run


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(3)
    rain, moon = rng.integers(0, 2, (2, 2000))
    wet = rain ^ (rng.random(2000) < 0.2)
    table = pd.DataFrame({"rain": rain, "moon": moon, "wet": wet})
    (tmp_path / "days").mkdir()
    table[:500].to_csv(tmp_path / "days" / "1.csv", index=False)
    table[500:].to_csv(tmp_path / "days" / "2.csv", index=False)
    return tmp_path / "days"


def members(capsys, *arguments):
    assert run(["discover", *map(str, arguments), "-t", "wet", "--json"]) == 0
    return json.loads(capsys.readouterr().out)["members"]


def test_pack_and_discover(folder, capsys, tmp_path):
    store = tmp_path / "days.packed"
    assert run(["pack", str(folder / "1.csv"), str(folder / "2.csv"), "-o", str(store)]) == 0
    assert f"packed 2,000 rows of 3 columns into {store}" in capsys.readouterr().err
    assert members(capsys, store) == members(capsys, folder) == members(capsys, folder / "*.csv") == ["rain"]
    assert run(["pack", str(folder), "-o", str(folder), "-q"]) == BAD_DATA
    assert "exists and is not a store" in capsys.readouterr().err


def test_limit_and_checkpoint(folder, capsys, tmp_path):
    kept = tmp_path / "run.jsonl"
    assert members(capsys, folder / "1.csv", "--memory-limit", "1 kB", "--checkpoint", kept) == ["rain"]
    assert kept.stat().st_size > 0
    assert run(["discover", str(folder), "-t", "wet", "--checkpoint", str(kept)]) == WRONG_USAGE
    assert "belongs to another run" in capsys.readouterr().err


def test_engine_and_address(folder, capsys):
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        arguments = "--engine", "dask", "--address", cluster.scheduler_address
        assert members(capsys, folder, *arguments) == ["rain"]
    assert run(["discover", str(folder), "-t", "wet", "--address", "tcp://127.0.0.1:9"]) == WRONG_USAGE
    assert "use --engine dask" in capsys.readouterr().err


def test_rank_and_select_take_folders_and_engines(folder, capsys):
    asked = (["rank"], ["select", "-k", "2", "-c", "mrmr"])
    for command, *more in asked:
        found = []
        for source, words in ((folder, []), (folder / "*.csv", ["--memory-limit", "1 kB"])):
            assert run([command, str(source), "-t", "wet", "--json", *more, *words]) == 0
            content = json.loads(capsys.readouterr().out)
            found.append(content["names"])
        assert found == [["rain", "moon"]] * 2
        assert run([command, str(folder), "-t", "wet", *more, "--engine", "dusk"]) == WRONG_USAGE
        assert "did you mean 'dask'" in capsys.readouterr().err
