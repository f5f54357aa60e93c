"""A process that draws figures may be killed, by whoever needs its memory; the report is written all the same."""

from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace

import joblib

from metaeval.comparison import report


def test_what_a_killed_process_did_not_write_is_written_by_this_one(monkeypatch, tmp_path):
    class Killed:
        def __init__(self, **_):
            pass

        def __call__(self, tasks):
            raise BrokenProcessPool("a worker was killed")

    monkeypatch.setattr(joblib, "Parallel", Killed)
    monkeypatch.setattr(report, "_results", lambda comparison: [("power", None), ("similarity", None)])
    monkeypatch.setattr(report, "_write_result", lambda result, folder, name: (folder / name).touch())
    report._write_files(SimpleNamespace(collections=()), tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["power", "similarity"]
