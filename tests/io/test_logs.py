"""Logs of evaluation harnesses: values, directions, repeats and counts are those that json alone finds in them."""

import contextlib
import gzip
import hashlib
import io
import json
import os
import random
import struct
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io import LOG_FORMATS, read_collections, read_scores, write_scores
from tests.hostile.mutate import mutate_json, mutate_text
from tests.io.cases import put, read_with_notes, show

EVALS = Path(os.environ.get("METAEVAL_DATA", "")) / "evals"
FIXTURES = EVALS / "every_eval_ever" / "tests" / "data"
needs_data = pytest.mark.skipif(not FIXTURES.is_dir(), reason="needs evals/ in the folder that METAEVAL_DATA names")
DATE = "2026-01-21T03-44-18.458309"


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


# What each harness writes: the files of a log by name


def eee_sample(model, sample, score, **evaluation):
    return {
        "schema_version": "0.3.0", "evaluation_id": f"x/{model}/1", "model_id": model, "evaluation_name": "bench",
        "evaluation_result_id": "bench.accuracy", "sample_id": sample, "evaluation": {"score": score, **evaluation},
    }  # fmt: skip


def eee(model, *scores, lower=False, path=None, **details):
    """Return an aggregate of Every Eval Ever, which may name another path than that of the samples beside it."""
    name = f"data/x/{model}/1-{model}"
    records = [eee_sample(model, f"s{t}", score, is_correct=True) for t, score in enumerate(scores)]
    config = {"metric_name": "error rate" if lower else "accuracy", "lower_is_better": lower}
    named = {} if lower else {"evaluation_name": "bench"}
    result = {"evaluation_result_id": "bench.accuracy", "metric_config": config, **named}
    detailed = {"file_path": path or f"{name}_samples.jsonl", "total_rows": len(records), **details}
    aggregate = {"evaluation_id": f"x/{model}/1", "model_info": {"id": model}, "evaluation_results": [result]}
    aggregate["detailed_evaluation_results"] = detailed
    return {f"{name}.json": json.dumps(aggregate), f"{name}_samples.jsonl": lines(*records)}


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
    (eee("a", 1.0, 0.25) | eee("b", 0.75, 0.5), {}, {"bench": "accuracy: a 1 0.25, b 0.75 0.5 (s0 s1) up"},
     ""),
    (eee("a", 1.0, lower=True), {}, {"bench": "error rate: a 1 (s0) down"}, ""),
    (eee("a", 1.0, 0.25) | eee("b", None, 0.5), {"missing": "keep"},
     {"bench": "accuracy: a 1 0.25, b nan 0.5 (s0 s1) up"}, ""),
    (eee("a", 1.0) | {"data/x/b/1-b.json": eee("b", 1.0)["data/x/b/1-b.json"]}, {}, {"bench": "accuracy: a 1 (s0) up"},
     "no samples lie beside 1-b.json: left out"),
    (lm_eval("org/a", *(lm_sample(0, 1.0, name) for name in ("strict", "flexible")), up=False), {},
     {"gsm8k": "exact_match,strict: org/a 1; exact_match,flexible: org/a 1 (0) down"}, ""),
    (lm_eval("a", lm_sample(0, True, ppl=[-3.5, 7]), lm_sample(1, False, ppl=[-1, 2])), {},
     {"gsm8k": "exact_match,none: a 1 0 (0 1) up"}, "no number a sample, left out: ppl,none"),
    (inspect("m", *TWICE), {}, {"arc": f"{MEANS} ?"}, "2 epochs of arc: their mean was taken"),
    ({"a.eval": archive(inspect_log("m", *TWICE))}, {}, {"arc": f"{MEANS} ?"},
     "2 epochs of arc: their mean was taken"),
    ({"a.eval": archive(inspect_log("m", *TWICE), parts=True)}, {}, {"arc": f"{MEANS} ?"},
     "their mean was taken"),
    (inspect("m", *UNEQUAL), {"missing": "drop-topic"}, {"arc": "choice: m 1 1 (x z) ?"},
     "left out 1 of 3 topics"),
    (inspect("m", *DICTS), {"missing": "drop-topic"}, {"arc": "choice/f: m 0.5; choice/g: m 1 (x) ?"},
     "left out 1 of 2"),
    (inspect("m", sample("x", "C")) | inspect("m", sample("x", "I"), name="b"), {"columns": {"run": "file"}},
     {"arc": "choice: m (a) 1, m (b) 0 (x) ?"}, ""),
    (inspect("m", sample("x", "C")) | inspect("n", sample("x", None), name="b"), {}, {"arc": "choice: m 1 (x) ?"},
     "left out"),
    (inspect("m", sample("x", "C")) | inspect("o", sample("x", "C"), name="b", status="cancelled"), {},
     {"arc": "choice: m 1, o 1 (x) ?"}, "its status is 'cancelled', not success"),
    (helm("org/a", *LAW["org/a"]) | helm("org/b", *LAW["org/b"]), {},
     {"mmlu:subject=law": "em: org/a 0.5 0.5, org/b 0.25 0.5 (i1 i2) ?",
      "mmlu:subject=law misspelling/prob=0.5": "em: org/a 0.25, org/b 0.125 (i1) ?"},
     "2 epochs of mmlu:subject=law: their mean was taken"),
    (BANKS | {"org__a/abc/model_meta.json": "{}"}, {}, {"mteb": "main_score: org/a 0.5 0.5 0 (B T test T dev) ?"},
     ""),
    (BANKS | LATER, {}, {"mteb": "main_score: org/a@abc 0.5 0.5 0, org/a@later 0.1 0.1 0.2 (B T test T dev) ?"},
     ""),
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


@needs_data
@pytest.mark.parametrize(
    "path", sorted([*FIXTURES.glob("inspect/*.json"), *EVALS.glob("inspect/*.eval")]), ids=lambda path: path.name
)
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_the_fixtures_of_inspect_are_read_as_json_reads_them(path):
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as file:
            log = json.loads(file.read("header.json")) | {"samples": json.loads(file.read("summaries.json"))}
    else:
        log = json.loads(path.read_text())
    expected = {
        (log["eval"]["task"], log["eval"]["model"], str(one["id"]), scorer): {"C": 1.0, "I": 0.0}[given["value"]]
        for one in log["samples"]
        for scorer, given in (one["scores"] or {}).items()
    }
    if expected:
        assert cells(read_collections(path)) == expected
    else:
        with pytest.raises(DataError, match="there are no scores in it"):
            read_collections(path)


def cells(found):
    return {
        (scores.collection, run, topic, str(measure)): scores.values[r, t, m]
        for scores in found
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
        for m, measure in enumerate(scores.measures)
    }


@needs_data
def test_the_fixtures_of_every_eval_ever_lm_eval_and_helm_are_read_as_json_reads_them():
    (path,) = FIXTURES.rglob("skill_reference_conversion/**/*_samples.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    results = json.loads(Path(str(path).replace("_samples.jsonl", ".json")).read_text())["evaluation_results"]
    names = {result["evaluation_result_id"]: result["metric_config"]["metric_name"] for result in results}
    assert cells(read_collections(FIXTURES / "skill_reference_conversion")) == {
        (r["evaluation_name"], r["model_id"], r["sample_id"], names[r["evaluation_result_id"]]): r["evaluation"][
            "score"
        ]
        for r in records
    }
    (path,), (results,) = ((FIXTURES / "lm_eval").glob(f"{name}_*.json*") for name in ("samples", "results"))
    model = json.loads(results.read_text())["model_name"]
    found = read_collections(FIXTURES / "lm_eval")
    assert cells(found) == {
        ("math_perturbed_full", model, str(r["doc_id"]), f"{name},{r['filter']}"): r[name]
        for r in map(json.loads, path.read_text().splitlines())
        for name in r["metrics"]
    }
    assert found[0].measures[0].higher_is_better is True
    expected = {}
    for folder in sorted((FIXTURES / "helm").iterdir()):
        spec = json.loads((folder / "run_spec.json").read_text())
        task = ",".join(part for part in spec["name"].split(",") if not part.startswith("model=")).partition(":model=")[
            0
        ]
        rows = json.loads((folder / "per_instance_stats.json").read_text())
        splits = {stat["name"]["split"] for row in rows for stat in row["stats"]}
        for instance, stat in ((row["instance_id"], stat) for row in rows for stat in row["stats"]):
            name = stat["name"]["name"]
            if stat["count"] and any(word in name for word in ("match", "f1", "rouge", "bleu")):
                collection = f"{task} {stat['name']['split']}" if len(splits) > 1 else task
                expected[collection, spec["adapter_spec"]["model"], instance, name] = stat["mean"]
    found = cells(read_collections(FIXTURES / "helm"))
    assert found == pytest.approx(expected, abs=1e-12)
    assert len(found) == 10 * 8 + 10 * 8 + 5 * 6


# Where samples lie, and how they are packed


@pytest.mark.parametrize("path", ["../../../out_samples.jsonl", "/etc/passwd", "data/../../x_samples.jsonl", "a\\b"])
def test_a_file_path_may_not_leave_the_archive(path, tmp_path):
    put(tmp_path / "in", eee("a", 1.0, path=path))
    put(tmp_path, {"out_samples.jsonl": lines(eee_sample("b", "s1", 1.0))})
    with pytest.raises(DataError, match="leaves the archive"):
        read_collections(tmp_path / "in")


def send_without_samples(folder, path):
    """Write an aggregate that names this path, and what nobody may read; return both."""
    put(folder / "sent", eee("a", 1.0, path=path))
    next(folder.rglob("1-a_samples.jsonl")).unlink()
    secret = put(folder / "private", {"secret_samples.jsonl": lines(eee_sample("b", "s1", 1.0))})
    return next(folder.rglob("1-a.json")), secret


def test_a_file_that_was_not_named_is_not_read_wherever_its_path_would_lead(tmp_path):
    """Every folder above the log was once tried, up to the root: a visitor of the playground read the server's files."""
    aggregate, _ = send_without_samples(tmp_path, f"{tmp_path}/private/secret_samples.jsonl".lstrip("/"))
    for source in (tmp_path / "sent", aggregate):
        with (
            pytest.warns(PolicyWarning, match=r"no samples lie beside 1-a\.json: left out"),
            pytest.raises(DataError, match="there is no log of the format every-eval-ever"),
        ):
            read_scores(source)


@pytest.mark.parametrize("link", ["secret_samples.jsonl", "elsewhere/secret_samples.jsonl"])
def test_a_link_in_a_log_leads_nowhere_else(link, tmp_path):
    aggregate, secret = send_without_samples(tmp_path, link)
    place = aggregate.parent / link.split("/")[0]
    place.symlink_to(secret if place.name == link else secret.parent)
    with pytest.raises(DataError, match="file_path '.*secret_samples.jsonl' leaves the archive"):
        read_scores(aggregate)


def test_samples_elsewhere_in_the_folder_that_is_named_are_found(tmp_path):
    put(tmp_path, eee("a", 0.25, path="samples/of_a.jsonl") | {"samples/x": ""})
    next(tmp_path.rglob("1-a_samples.jsonl")).rename(tmp_path / "samples" / "of_a.jsonl")
    (tmp_path / "samples" / "x").unlink()
    assert read_scores(tmp_path).values.item() == 0.25
    with pytest.warns(PolicyWarning), pytest.raises(DataError, match="there is no log"):  # that names no folder
        read_scores(next(tmp_path.rglob("1-a.json")))


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
        head = struct.pack(
            "<HHHHHIIIHH", 63, 0, 93, 0, 0, zlib.crc32(content), len(packed), len(content), len(named), 0
        )
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


# Whatever is wrong with them


GOOD = inspect("m", sample("x", "C"))["a.json"]
LM, EEE = f"samples_t_{DATE}.jsonl", "x_samples.jsonl"
REFUSED = [
    # files, what is said of them
    (eee("a", 1.0, 0.25) | eee("b", None, 0.5),
     "run b, topic s0, .* there is no score"),  # is_correct is none
    (eee("a", 1.0, 0.0, total_rows=3), "it has 2 samples, its aggregate says 3"),
    (eee("a", 1.0, hash_algorithm="sha256", checksum="0" * 64),
     "its sha256 is not the one that its aggregate states"),
    (inspect("m", *UNEQUAL), r"topic y, repeat 2.*repeats are unequal: missing=drop-topic or drop-run"),
    (inspect("m", *DICTS), r"topic y, measure choice/f: there is no score .*missing=drop-topic"),
    (inspect("m", sample("x", "C")) | inspect("m", sample("x", "C"), name="b"),
     r"[ab].json is of the same run on the task arc .*columns=\{'run': 'file'\}"),
    (inspect("m", sample("x", "C")) | mteb("m", "b", test=[0.5]),
     r"several formats: inspect \(a.json\) and mteb \(b.json"),
    (lm_eval("a", lm_sample(0, 1.0)) | lm_eval("b", lm_sample(0, 1.0), up=False),
     "run b, measure exact_match,none: its direction is not that of the same measure"),
    ({"a.json": GOOD[: len(GOOD) // 2]}, "a.json:1: it is not JSON"),
    ({"a.json": GOOD.replace('"C"', '"?"')}, "topic x, measure choice: the score is no number: .*'?'"),
    ({"a.json": GOOD.replace('"C"', "1e999")}, "topic x, measure choice: the score is no number: inf"),
    ({"a.json": GOOD.replace('"epoch": 1', '"epoch": "one"')},
     "the scores or the epoch are not as Inspect writes them"),
    ({"a.json": '{"eval": 1, "status": 2, "samples": 3}'}, "a.json: there is no 'task' where a log has it"),
    ({"a.eval": "PK\x03\x04 nothing more"}, "a.eval: it is no whole archive of Inspect"),
    ({"run_spec.json": '{"name": "x", "adapter_spec": {}}'}, "there is no log of the format helm"),
    ({LM: '{"doc_id": [0], "metrics": [], "filter": "none"}'},
     r"the doc_id is \[0\], neither text nor whole number"),
    ({LM: '{"doc_id": 0, "filter": "none", "metrics": ["m"], "m": 1}\n{"doc'}, "jsonl:2: it is not JSON"),
    ({EEE: lines(eee_sample("m", "s", "high"))}, "x_samples.jsonl:1: the score is no number: .*'high'"),
    ({EEE: lines({**eee_sample("m", "s", 1), "evaluation_name": None})},
     "x_samples.jsonl:1: the evaluation_name is None"),
    ({EEE: b'{"schema_version": "\xe9"}'}, "x_samples.jsonl:1: byte 0xe9 is not UTF-8"),
    ({"a.json": b'{"eval": "\xe9"}'}, "a.json:1: byte 0xe9 is not UTF-8"),
    ({LM: '{"doc_id": 0, "filter": "none", "metrics": []}\n{"doc_id": 1, "filter": "x"}'},
     "jsonl:2: there is no 'metrics'"),
    ({name: text.replace('_config": {', '_config": 7, "x": {') for name, text in eee("a", 1.0).items()},
     "it is not as every-"),
    ({EEE: lines(eee_sample("", "s", 1))}, "x_samples.jsonl: a run has no name"),
    ({EEE: lines(eee_sample("m", {"a": 1}, 1))},
     "x_samples.jsonl:1: the sample_id is {'a': 1}, neither text nor whole"),
    ({"d.json": '{"task_name": 1.5, "scores": {}}'}, "d.json: there is no log of the format mteb"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "message"), REFUSED)
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_broken_and_contradicting_logs_end_in_one_sentence(files, message, tmp_path):
    for source in {put(tmp_path, files), tmp_path}:
        with pytest.raises(MetaevalError, match=message) as refused:
            read_collections(source)
        assert "\n" not in str(refused.value)


def test_samples_with_the_checksum_that_their_aggregate_states_are_read(tmp_path):
    digest = hashlib.sha256(eee("a", 1.0)["data/x/a/1-a_samples.jsonl"].encode()).hexdigest()
    assert (
        show(read_scores(put(tmp_path, eee("a", 1.0, hash_algorithm="sha256", checksum=digest))))
        == "accuracy: a 1 (s0)"
    )


@pytest.mark.parametrize("format", LOG_FORMATS)
def test_no_log_is_written(format, tmp_path):
    scores = read_scores(put(tmp_path, eee("a", 1.0)))
    with pytest.raises(MetaevalError, match=f"the format {format} is read, not written: write format=tidy"):
        write_scores(scores, tmp_path / "out", format=format)


LOGS = {
    "every-eval-ever": eee("a", 1.0, 0.5),
    "lm-eval": lm_eval("m", lm_sample(0, 1.0), lm_sample(1, 0.0, f1=0.5)),
    "inspect": inspect("m", sample("x", "C"), sample("y", {"f": 1})),
    "inspect, archive": {"a.eval": archive(inspect_log("m", sample("x", "C"), sample("y", "P")))},
    "helm": helm("m", ("i", 0, helm_stat("em", 1.0)), ("j", 0)),
    "mteb": mteb("m", "T", test=[0.5, 0.25]),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LOGS)
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_logs_of_any_other_structure_end_in_one_sentence(kind, tmp_path):
    for case in range(40 * int(os.environ.get("HOSTILE_INPUTS", "1"))):
        rng = random.Random(f"log {kind} {case}")
        put(tmp_path / str(case), LOGS[kind])
        victim = rng.choice(sorted(path for path in (tmp_path / str(case)).rglob("*") if path.is_file()))
        victim.write_bytes((mutate_json if victim.suffix == ".json" else mutate_text)(rng, victim.read_bytes()))
        for source in (tmp_path / str(case), victim):
            with contextlib.suppress(MetaevalError):
                read_collections(source)
