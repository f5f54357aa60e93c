"""Logs of evaluation harnesses: values, directions, repeats and counts are those that json alone finds in them."""

import gzip
import io
import json
import os
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from metaeval.errors import DataError, MetaevalError
from metaeval.io import read_collections, read_scores
from tests.hostile.case import call, try_inputs
from tests.hostile.formats import score_cells
from tests.hostile.mutate import mutate_json, mutate_text
from tests.io.cases import put, read_with_notes, show

EVALS = Path(os.environ.get("METAEVAL_DATA", "")) / "evals"
FIXTURES = EVALS / "every_eval_ever" / "tests" / "data"
DATE = "2026-01-21T03-44-18.458309"


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def lm_sample(doc, value, filter="none", **more):
    return {"doc_id": doc, "filter": filter, "metrics": ["exact_match", *more], "exact_match": value, **more}


def lm_eval(model, *records, up=True):
    results = {"model_name": model, "higher_is_better": {"gsm8k": {"exact_match": up}}, "results": {"gsm8k": {}}}
    folder = model.replace("/", "__")
    return {
        f"{folder}/samples_gsm8k_{DATE}.jsonl": lines(*records),
        f"{folder}/results_{DATE}.json": json.dumps(results),
    }


def sample(name, value, epoch=1):
    return {"id": name, "epoch": epoch, "scores": {} if value is None else {"choice": {"value": value}}}


def inspect_log(model, *samples, status="success"):
    return {"version": 2, "status": status, "eval": {"task": "arc", "model": model}, "samples": samples}


def inspect(model, *samples, name="a", **more):
    return {f"{name}.json": json.dumps(inspect_log(model, *samples, **more))}


def archive(log, method=zipfile.ZIP_DEFLATED, parts=False):
    """Return the log of Inspect as an .eval file, in summaries or sample by sample."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as file:
        file.writestr("header.json", json.dumps({key: value for key, value in log.items() if key != "samples"}))
        for number, one in enumerate(log["samples"] if parts else ()):
            file.writestr(f"samples/{number}.json", json.dumps(one))
        if not parts:
            file.writestr("summaries.json", json.dumps(log["samples"]))
    return content.getvalue()


def helm_stat(name, mean, *, count=1, perturbation=None):
    named = {"name": name, "split": "test"} | ({"perturbation": perturbation} if perturbation else {})
    return {"name": named, "count": count, "sum": mean * count, "mean": mean}


def helm(model, *instances):
    rows = [{"instance_id": name, "train_trial_index": trial, "stats": stats} for name, trial, *stats in instances]
    spec = {"name": "mmlu:subject=law,model=x", "adapter_spec": {"model": model}}
    folder = model.replace("/", "_")
    return {f"{folder}/run_spec.json": json.dumps(spec), f"{folder}/per_instance_stats.json": json.dumps(rows)}


def mteb(model, task, revision="abc", **splits):
    scores = {
        split: [{"main_score": one, "hf_subset": str(n)} for n, one in enumerate(values)]
        for split, values in splits.items()
    }
    return {f"{model}/{revision}/{task}.json": json.dumps({"task_name": task, "scores": scores, "mteb_version": "1"})}


GRADES = [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (0.25, 0.25), ("0.75", 0.75), (3, 3.0)]
TWICE = [sample(t, grade) for t, (grade, _) in enumerate(GRADES)] + [sample(t, 1.0, 2) for t in range(len(GRADES))]
MEANS = "choice: m 1 0.75 0.5 0.5 1 0.625 0.875 2 (0 1 2 3 4 5 6 7)"
UNEQUAL = [sample(t, "C", epoch) for t in "xyz" for epoch in (1, 2) if (t, epoch) != ("y", 2)]
DICTS = [sample("x", {"f": 0.5, "g": "C"}), sample("y", {"f": float("nan"), "g": "I"})]
LAW = {
    model: [
        ("i1", 0, helm_stat("em", score), helm_stat("num_references", 4)), ("i1", 1, helm_stat("em", 0)),
        ("i1", 0, helm_stat("em", score / 4, perturbation={"name": "misspelling", "prob": 0.5})),
        ("i2", 0, helm_stat("em", 0.25, count=2), helm_stat("logprob", -3.0)), ("i2", 1, helm_stat("em", 0.75, count=2)),
    ]
    for model, score in (("org/a", 1.0), ("org/b", 0.5))
}  # fmt: skip
BANKS = mteb("org__a", "B", test=[0.5]) | mteb("org__a", "T", test=[0.25, 0.75], dev=[0])
LATER = mteb("org__a", "B", "later", test=[0.1]) | mteb("org__a", "T", "later", test=[0.1], dev=[0.2])

READ = [
    # files, options, the collections that are read with their directions, what is said
    (lm_eval("org/a", *(lm_sample(0, 1.0, name) for name in ("strict", "flexible")), up=False), {},
     {"gsm8k": "exact_match,strict: org/a 1; exact_match,flexible: org/a 1 (0) down"}, ""),
    (lm_eval("a", lm_sample(0, True, ppl=[-3.5, 7]), lm_sample(1, False, ppl=[-1, 2])), {},
     {"gsm8k": "exact_match,none: a 1 0 (0 1) up"}, "no number a sample, left out: ppl,none"),
    (inspect("m", *TWICE), {}, {"arc": f"{MEANS} ?"}, "2 epochs of arc: their mean was taken"),
    ({"a.eval": archive(inspect_log("m", *TWICE))}, {}, {"arc": f"{MEANS} ?"}, "2 epochs of arc: their mean was taken"),
    ({"a.eval": archive(inspect_log("m", *TWICE), parts=True)}, {}, {"arc": f"{MEANS} ?"}, "their mean was taken"),
    (inspect("m", *UNEQUAL), {"missing": "drop-topic"}, {"arc": "choice: m 1 1 (x z) ?"}, "left out 1 of 3 topics"),
    (inspect("m", *DICTS), {"missing": "drop-topic"}, {"arc": "choice/f: m 0.5; choice/g: m 1 (x) ?"}, "left out 1 of 2"),
    (inspect("m", sample("x", "C")) | inspect("m", sample("x", "I"), name="b"), {"columns": {"run": "file"}},
     {"arc": "choice: m (a) 1, m (b) 0 (x) ?"}, ""),
    (inspect("m", sample("x", "C")) | inspect("n", sample("x", None), name="b"), {}, {"arc": "choice: m 1 (x) ?"},
     "left out"),
    (inspect("m", sample("x", "C")) | inspect("o", sample("x", "C"), name="b", status="cancelled"), {},
     {"arc": "choice: m 1, o 1 (x) ?"}, "its status is 'cancelled', not success"),
    (helm("org/a", *LAW["org/a"]) | helm("org/b", *LAW["org/b"]), {},
     {"mmlu:subject=law": "em: org/a 0.5 0.5, org/b 0.25 0.5 (i1 i2) ?"},
     "1 score of perturbed instances left out"),
    (BANKS | {"org__a/abc/model_meta.json": "{}"}, {}, {"mteb": "main_score: org/a 0.5 0.5 0 (B T test T dev) ?"}, ""),
    (BANKS | LATER, {}, {"mteb": "main_score: org/a@abc 0.5 0.5 0, org/a@later 0.1 0.1 0.2 (B T test T dev) ?"}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("files", "options", "expected", "note"), READ)
def test_a_log_is_read_with_its_measures_directions_and_means(files, options, expected, note, tmp_path):
    found, notes = read_with_notes(read_collections, put(tmp_path, files), **options)
    way = {True: "up", False: "down", None: "?"}
    assert {one.collection: f"{show(one)} {way[one.measures[0].higher_is_better]}" for one in found} == expected
    assert all(one.measures[0].higher_is_better == two.higher_is_better for one in found for two in one.measures)
    assert note in notes if note else not notes
    if "epochs of arc" in note:
        assert found[0].repeats["choice"].count == 2


def expect_inspect(path):
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as file:
            log = json.loads(file.read("header.json")) | {"samples": json.loads(file.read("summaries.json"))}
    else:
        log = json.loads(path.read_text())
    name = log["eval"]
    scored = [(one, scorer) for one in log["samples"] for scorer in one["scores"] or {}]
    return {(name["task"], name["model"], str(one["id"]), scorer): {"C": 1.0, "I": 0.0}[one["scores"][scorer]["value"]]
            for one, scorer in scored}  # fmt: skip


def expect_lm_eval(folder):
    (samples,), (results,) = (folder.glob(f"{name}_*.json*") for name in ("samples", "results"))
    model, rows = json.loads(results.read_text())["model_name"], map(json.loads, samples.read_text().splitlines())
    return {("math_perturbed_full", model, str(row["doc_id"]), f"{name},{row['filter']}"): row[name]
            for row in rows for name in row["metrics"]}  # fmt: skip


def expect_helm(folder):
    found = {}
    for log in folder.iterdir():
        spec, rows = (json.loads((log / f"{name}.json").read_text()) for name in ("run_spec", "per_instance_stats"))
        task = ",".join(part for part in spec["name"].split(",") if not part.startswith("model=")).split(":model=")[0]
        stats = [(row["instance_id"], stat["name"], stat) for row in rows for stat in row["stats"]]
        several = len({name["split"] for _, name, _ in stats}) > 1
        for instance, name, stat in stats:
            if stat["count"] and any(word in name["name"] for word in ("match", "f1", "rouge", "bleu")):
                collection = f"{task} {name['split']}" if several else task
                found[collection, spec["adapter_spec"]["model"], instance, name["name"]] = stat["mean"]
    assert len(found) == 10 * 8 + 10 * 8 + 5 * 6
    return found


PUBLISHED = [
    (path, expect_inspect) for path in sorted([*FIXTURES.glob("inspect/*.json"), *EVALS.glob("inspect/*.eval")])
]
PUBLISHED += [(FIXTURES / "lm_eval", expect_lm_eval), (FIXTURES / "helm", expect_helm)]


@pytest.mark.skipif(not FIXTURES.is_dir(), reason="needs evals/ in the folder that METAEVAL_DATA names")
@pytest.mark.parametrize(("path", "expect"), PUBLISHED, ids=lambda given: getattr(given, "name", ""))
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_published_logs_are_read_as_json_reads_them(path, expect):
    expected = expect(path)
    if not expected:
        with pytest.raises(DataError, match="there are no scores in it"):
            read_collections(path)
        return
    found = read_collections(path)
    cells = {(scores.collection, *key): value for scores in found for key, value in score_cells(scores).items()}
    assert cells == pytest.approx(expected, abs=1e-12)
    assert expect is not expect_lm_eval or found[0].measures[0].higher_is_better


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


def zip_of_zstd(members):
    """Return a ZIP file of method 93, which the zipfile module does not write."""
    body, directory = b"", b""
    for name, content in members.items():
        packed, named = zstd(content), name.encode()
        sizes = (zlib.crc32(content), len(packed), len(content), len(named), 0)
        head = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 0, *sizes)
        directory += b"PK\x01\x02" + struct.pack("<H", 63) + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + named
        body += b"PK\x03\x04" + head + named + packed
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


def test_samples_and_members_of_archives_may_be_packed(tmp_path):
    (name, text), _ = lm_eval("a", lm_sample(0, 1.0), lm_sample(1, 0.5)).items()
    for suffix, pack in ((".gz", gzip.compress), (".zst", zstd)):
        packed = put(tmp_path / suffix, {name + suffix: pack(text.encode())})
        assert read_scores(packed).values.ravel().tolist() == [1, 0.5]
    content = archive(inspect_log("m", sample("x", "C"), sample("y", "P")), zipfile.ZIP_STORED)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    assert read_scores(put(tmp_path, {"a.eval": zip_of_zstd(members)})).values.ravel().tolist() == [1, 0.5]


def test_samples_are_streamed_and_a_large_archive_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    record = {"filter": "none", "metrics": ["m"], "m": 0.5, "resps": "x" * 100_000}
    path = put(tmp_path, {f"samples_t_{DATE}.jsonl": lines(*({"doc_id": doc, **record} for doc in range(300)))})
    tracemalloc.start()
    try:
        scores = read_scores(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000  # the file has 30,000,000 bytes
    finally:
        tracemalloc.stop()
    assert np.array_equal(scores.values, np.full((1, 300, 1), 0.5))
    log = inspect_log("m", sample("x", "C")) | {"samples": "0" * 5_000_000}
    monkeypatch.setenv("METAEVAL_LARGEST_FILE", "1000000")
    with pytest.raises(DataError, match=r"unpacked, it has 5,000,\d+ bytes"):
        read_scores(put(tmp_path, {"a.eval": archive(log)}))


GOOD = inspect("m", sample("x", "C"))["a.json"]
LM = f"samples_t_{DATE}.jsonl"
REFUSED = [
    # files, what is said of them
    (inspect("m", *UNEQUAL), r"topic y, repeat 2.*repeats are unequal: missing=drop-topic or drop-run"),
    (inspect("m", *DICTS), r"topic y, measure choice/f: there is no score .*missing=drop-topic"),
    (inspect("m", sample("x", "C")) | inspect("m", sample("x", "C"), name="b"),
     r"[ab].json is of the same run on the task arc .*columns=\{'run': 'file'\}"),
    (inspect("m", sample("x", "C")) | mteb("m", "b", test=[0.5]), r"several formats: inspect \(a.json\) and mteb \(b.json"),
    (lm_eval("a", lm_sample(0, 1.0)) | lm_eval("b", lm_sample(0, 1.0), up=False),
     "measure exact_match,none: higher_is_better is false, true"),
    ({"a.json": GOOD[: len(GOOD) // 2]}, "a.json:1: it is not JSON"),
    ({"a.json": GOOD.replace('"C"', '"?"')}, "topic x, measure choice: the score is no number: .*'?'"),
    ({"a.json": GOOD.replace('"C"', "1e999")}, "topic x, measure choice: the score is no number: inf"),
    ({"a.json": GOOD.replace('"epoch": 1', '"epoch": "one"')}, "the scores or the epoch are not as Inspect writes them"),
    ({"a.json": '{"eval": 1, "status": 2, "samples": 3}'}, "a.json: there is no 'task' where a log has it"),
    ({"a.eval": "PK\x03\x04 nothing more"}, "a.eval: it is no whole archive of Inspect"),
    ({"run_spec.json": '{"name": "x", "adapter_spec": {}}'}, "there is no log of the format helm"),
    ({"a.json": GOOD.replace('"model": "m"', '"model": ""')}, "a.json: a run has no name"),
    ({LM: '{"doc_id": [0], "metrics": [], "filter": "none"}'}, r"the doc_id is \[0\], neither text nor whole number"),
    ({LM: '{"doc_id": 0, "filter": "none", "metrics": ["m"], "m": 1}\n{"doc'}, "jsonl:2: it is not JSON"),
    ({"a.json": b'{"eval": "\xe9"}'}, "a.json:1: byte 0xe9 is not UTF-8"),
    ({LM: '{"doc_id": 0, "filter": "none", "metrics": []}\n{"doc_id": 1, "filter": "x"}'}, "jsonl:2: there is no 'metrics'"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "message"), REFUSED)
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_broken_and_contradicting_logs_end_in_one_sentence(files, message, tmp_path):
    for source in {put(tmp_path, files), tmp_path}:
        with pytest.raises(MetaevalError, match=message) as refused:
            read_collections(source)
        assert "\n" not in str(refused.value)


LOGS = {
    "lm-eval": lm_eval("m", lm_sample(0, 1.0), lm_sample(1, 0.0, f1=0.5)),
    "inspect": inspect("m", sample("x", "C"), sample("y", {"f": 1})),
    "inspect, archive": {"a.eval": archive(inspect_log("m", sample("x", "C"), sample("y", "P")))},
    "helm": helm("m", ("i", 0, helm_stat("em", 1.0)), ("j", 0)),
    "mteb": mteb("m", "T", test=[0.5, 0.25]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOGS)
def test_logs_of_any_other_structure_end_in_one_sentence(kind, tmp_path):
    def part(rng, folder):
        put(folder, LOGS[kind])
        victim = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        victim.write_bytes((mutate_json if victim.suffix == ".json" else mutate_text)(rng, victim.read_bytes()))
        for source in (folder, victim):
            call(read_collections, source)

    try_inputs(part, (0, 40), tmp_path, name=f"log {kind}")
