"""A process that draws figures may be killed, by whoever needs its memory; the report is written all the same."""

from concurrent.futures.process import BrokenProcessPool

import joblib

from metaeval.comparison import report


def test_what_a_killed_process_did_not_write_is_written_by_this_one(monkeypatch, tmp_path):
    class Killed:
        def __init__(self, **_):
            pass

        def __call__(self, tasks):
            raise BrokenProcessPool("a worker was killed")

    monkeypatch.setattr(joblib, "Parallel", Killed)
    monkeypatch.setattr(report, "name_results", lambda comparison: [("power", None), ("similarity", None)])
    monkeypatch.setattr(report, "_draw", lambda result, folder, name: (tmp_path / name).touch())
    report._draw_all(None, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["power", "similarity"]
