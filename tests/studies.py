"""A study that stays open: the tables of tests are in memory, where nothing is cleaned up."""

from typing import Any

from blankets.study import Study, open_study


def study_of(*args: Any, **kwargs: Any) -> Study:
    with open_study(*args, **kwargs) as study:
        return study
