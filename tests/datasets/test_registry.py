import hashlib
import json
import os
import re
from pathlib import Path
from urllib.parse import quote

import pytest

from metaeval.datasets import cache_folder, dataset, datasets, load_dataset
from metaeval.errors import DatasetError

DOWNLOADED = [one for one in datasets() if one.files]
BY_HAND = [one for one in datasets() if not one.files]
DATA = Path(os.environ.get("METAEVAL_DATA", "nowhere"))
real_data = pytest.mark.skipif(not (DATA / "manifest.json").is_file(), reason="METAEVAL_DATA has no manifest.json")


@pytest.mark.parametrize("one", datasets(), ids=lambda one: one.name)
def test_every_data_set_says_what_it_is_and_where_it_is_from(one):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one.name)
    assert one.kind in ("classification", "quantification", "scores", "annotations")
    assert all((one.title, one.rows, one.citation))
    assert (one.kind == "scores") == (one.classes == ())
    assert ("http" in one.where) == bool(one.layout) == (not one.files)
    if one.files:
        assert (one.gold == "") == (one.kind == "scores")
        assert one.gold in {"", *(file.name for file in one.files)}
        assert all(file.licence and file.origin for file in one.files)
        assert one.provenance.count("@") == len({file.origin for file in one.files})


def test_every_file_is_pinned_and_data_sets_that_can_be_downloaded_come_first():
    assert [*DOWNLOADED, *BY_HAND] == list(datasets())
    assert len(DOWNLOADED) == 40
    files = {file.name: file for one in DOWNLOADED for file in one.files}
    assert len(files) == 315
    assert len({file.sha256 for file in files.values()}) == len(files)
    for file in files.values():
        assert re.fullmatch(r"[0-9a-f]{64}", file.sha256)
        assert re.fullmatch(r"https://raw\.githubusercontent\.com/[\w.-]+/[\w.-]+/[0-9a-f]{40}/[\w./%-]+", file.url)
        assert file.bytes > 0


def test_an_unknown_name_brings_the_nearest_ones():
    with pytest.raises(DatasetError, match=r"there is no data set 'stc3-dq' \(did you mean stc3-dq-"):
        dataset("stc3-dq")
    with pytest.raises(DatasetError, match=r"there is no data set 'xyz'; `metaeval data list` lists them"):
        load_dataset("xyz")


def test_downloads_land_where_the_environment_says_else_in_the_cache(monkeypatch):
    monkeypatch.setenv("METAEVAL_DATA", "~/mine")
    assert cache_folder() == Path.home() / "mine"
    for nothing in ("", "  "):
        monkeypatch.setenv("METAEVAL_DATA", nothing)
        assert "metaeval" in cache_folder().parts
    monkeypatch.delenv("METAEVAL_DATA")
    assert "metaeval" in cache_folder().parts


NOT_REGISTERED = {"semeval2017-runs"}
"""Folders of the manifest with files that no data set reads (of semeval2017-runs, a baseline that is made here)."""


@real_data
def test_registered_files_are_those_of_the_manifest_and_the_rest_is_listed():
    manifest = {entry["file"]: entry for entry in json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))}
    files = {file.name: file for one in DOWNLOADED for file in one.files}
    livebench = files.pop("evals/livebench/livebench_13012025.parquet")  # which the manifest leaves out
    assert hashlib.sha256((DATA / livebench.name).read_bytes()).hexdigest() == livebench.sha256
    assert files.keys() <= manifest.keys()
    assert {name.partition("/")[0] for name in manifest.keys() - files.keys()} == NOT_REGISTERED
    for name, file in files.items():
        entry = manifest[name]
        assert (file.sha256, file.bytes, file.licence) == (entry["sha256"], entry["bytes"], entry["licence"])
        address = f"{entry['repository']}/{entry['commit']}/{quote(entry['path'])}"
        assert file.url == f"https://raw.githubusercontent.com/{address}"
        assert file.origin == f"{entry['repository']}@{entry['commit'][:7]}"
