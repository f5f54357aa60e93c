"""Logs of evaluation harnesses: values, directions, repeats and counts are those that json alone finds in them."""

import contextlib
import gzip
import io
import json
import os
import random
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from metaeval.errors import DataError, MetaevalError, PolicyWarning
from metaeval.io import LOG_FORMATS, read_collections, read_scores, write_scores
from tests.hostile.mutate import mutate_json, mutate_text

EVALS = Path(os.environ.get("METAEVAL_DATA", "")) / "evals"
FIXTURES = EVALS / "every_eval_ever" / "tests" / "data"
needs_data = pytest.mark.skipif(not FIXTURES.is_dir(), reason="needs evals/ in the folder that METAEVAL_DATA names")


def cells(found):
    return {
        (scores.collection, run, topic, str(measure)): scores.values[r, t, m]
        for scores in found
        for r, run in enumerate(scores.runs)
        for t, topic in enumerate(scores.topics)
        for m, measure in enumerate(scores.measures)
    }


def write_lines(path, records):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def write_json(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))
    return path


# Every Eval Ever


def eee_sample(model, sample, score, result="bench.accuracy", **evaluation):
    return {
        "schema_version": "0.3.0", "evaluation_id": f"x/{model}/1", "model_id": model, "evaluation_name": "bench",
        "evaluation_result_id": result, "sample_id": sample, "evaluation": {"score": score, **evaluation},
    }  # fmt: skip


def write_eee(folder, model, records, *, lower=False, rows=None, path=None, **details):
    name = f"data/x/{model}/1-{model}"
    write_lines(folder / f"{name}_samples.jsonl", records)
    config = {"metric_name": "error rate" if lower else "accuracy", "lower_is_better": lower}
    write_json(
        folder / f"{name}.json",
        {
            "evaluation_id": f"x/{model}/1",
            "model_info": {"id": model},
            "evaluation_results": [
                {"evaluation_result_id": "bench.accuracy", "evaluation_name": "bench", "metric_config": config}
            ],
            "detailed_evaluation_results": {
                "file_path": path or f"{name}_samples.jsonl",
                "total_rows": len(records) if rows is None else rows,
                **details,
            },
        },
    )


@pytest.mark.parametrize("lower", [True, False])
def test_samples_of_every_eval_ever_have_the_measure_and_direction_of_their_aggregate(lower, tmp_path):
    for model, scores in (("a", (1.0, 0.25)), ("b", (None, 0.5))):
        records = [eee_sample(model, f"s{t}", score, is_correct=True) for t, score in enumerate(scores)]
        write_eee(tmp_path, model, records, lower=lower)
    with pytest.raises(
        DataError, match="run b, topic s0, .* there is no score"
    ):  # and is_correct is none of this measure
        read_collections(tmp_path)
    (scores,) = read_collections(tmp_path, missing="keep")
    assert (scores.collection, scores.runs, scores.topics) == ("bench", ("a", "b"), ("s0", "s1"))
    np.testing.assert_array_equal(scores.values[:, :, 0], [[1, 0.25], [np.nan, 0.5]])
    (measure,) = scores.measures
    assert (str(measure), measure.higher_is_better) == ("error rate" if lower else "accuracy", not lower)
    aggregate = next(tmp_path.rglob("1-a.json"))
    assert read_scores(aggregate).runs == ("a",)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 3}, "it has 2 samples, its aggregate says 3"),
        ({"hash_algorithm": "sha256", "checksum": "0" * 64}, "its sha256 is not the one that its aggregate states"),
    ],
)
def test_samples_that_are_cut_off_or_changed_are_refused(options, message, tmp_path):
    write_eee(tmp_path, "a", [eee_sample("a", "s1", 1.0), eee_sample("a", "s2", 0.0)], **options)
    with pytest.raises(DataError, match=message):
        read_collections(tmp_path)


@pytest.mark.parametrize(
    "path", ["../../../outside_samples.jsonl", "/etc/passwd", "data/../../x_samples.jsonl", "a\\b"]
)
def test_a_file_path_may_not_leave_the_archive(path, tmp_path):
    write_eee(tmp_path / "in", "a", [eee_sample("a", "s1", 1.0)], path=path)
    write_lines(tmp_path / "outside_samples.jsonl", [eee_sample("b", "s1", 1.0)])
    with pytest.raises(DataError, match="leaves the archive"):
        read_collections(tmp_path / "in")


def test_a_file_that_was_not_named_is_not_read_wherever_its_path_would_lead(tmp_path):
    """Every folder above the log was once tried, up to the root: a visitor of the playground read the server's files."""
    secret = write_lines(tmp_path / "private" / "secret_samples.jsonl", [eee_sample("b", "s1", 1.0)])
    folder = tmp_path / "sent"
    write_eee(folder, "a", [eee_sample("a", "s1", 1.0)], path=str(secret).lstrip("/"))
    next(folder.rglob("1-a_samples.jsonl")).unlink()
    for source in (folder, next(folder.rglob("1-a.json"))):
        with (
            pytest.warns(PolicyWarning, match=r"no samples lie beside 1-a\.json: left out"),
            pytest.raises(DataError, match="there is no log of the format every-eval-ever"),
        ):
            read_scores(source)


@pytest.mark.parametrize("link", ["secret_samples.jsonl", "elsewhere/secret_samples.jsonl"])
def test_a_link_in_a_log_leads_nowhere_else(link, tmp_path):
    secret = write_lines(tmp_path / "private" / "secret_samples.jsonl", [eee_sample("b", "s1", 1.0)])
    folder = tmp_path / "sent"
    write_eee(folder, "a", [eee_sample("a", "s1", 1.0)], path=link)
    next(folder.rglob("1-a_samples.jsonl")).unlink()
    aggregate = next(folder.rglob("1-a.json"))
    place = aggregate.parent / link.split("/")[0]
    place.symlink_to(secret if place.name == link else secret.parent)
    with pytest.raises(DataError, match="file_path '.*secret_samples.jsonl' leaves the archive"):
        read_scores(aggregate)


def test_samples_elsewhere_in_the_folder_that_is_named_are_found(tmp_path):
    write_eee(tmp_path, "a", [eee_sample("a", "s1", 0.25)], path="samples/of_a.jsonl")
    (tmp_path / "samples").mkdir()
    next(tmp_path.rglob("1-a_samples.jsonl")).rename(tmp_path / "samples" / "of_a.jsonl")
    assert read_scores(tmp_path).values.item() == 0.25
    with pytest.warns(PolicyWarning), pytest.raises(DataError, match="there is no log"):  # that names no folder
        read_scores(next(tmp_path.rglob("1-a.json")))


def test_an_aggregate_without_samples_is_listed_and_adds_nothing(tmp_path):
    write_eee(tmp_path, "a", [eee_sample("a", "s1", 1.0)])
    write_eee(tmp_path, "b", [eee_sample("b", "s1", 1.0)], path="data/x/b/none_samples.jsonl")
    next(tmp_path.rglob("1-b_samples.jsonl")).unlink()
    with pytest.warns(PolicyWarning, match="no samples lie beside 1-b.json: left out"):
        assert read_scores(tmp_path).runs == ("a",)


@needs_data
def test_the_fixture_of_every_eval_ever_is_read_as_json_reads_it():
    (path,) = FIXTURES.rglob("*_samples.jsonl")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    results = json.loads(Path(str(path).replace("_samples.jsonl", ".json")).read_text())["evaluation_results"]
    names = {result["evaluation_result_id"]: result["metric_config"] for result in results}
    expected = {
        (r["evaluation_name"], r["model_id"], r["sample_id"], names[r["evaluation_result_id"]]["metric_name"]):
        r["evaluation"]["score"]
        for r in records
    }  # fmt: skip
    found = read_collections(FIXTURES / "skill_reference_conversion")
    assert cells(found) == expected
    assert found[0].measures[0].higher_is_better is True


# lm-evaluation-harness


def write_lm_eval(folder, model, records, *, up=True, date="2026-01-21T03-44-18.458309", task="gsm8k"):
    path = write_lines(folder / f"samples_{task}_{date}.jsonl", records)
    results = {"model_name": model, "higher_is_better": {task: {"exact_match": up}}, "results": {task: {}}}
    write_json(folder / f"results_{date}.json", results)
    return path


def lm_sample(doc, value, filter="none", **more):
    return {"doc_id": doc, "filter": filter, "metrics": ["exact_match", *more], "exact_match": value, **more}


def test_a_filter_of_lm_eval_is_part_of_the_measure_and_the_results_name_model_and_direction(tmp_path):
    for model, up in (("org/a", 1.0), ("org/b", 0.0)):
        records = [lm_sample(doc, up, name) for name in ("strict", "flexible") for doc in range(3)]
        write_lm_eval(tmp_path / model.replace("/", "__"), model, records, up=False)
    (scores,) = read_collections(tmp_path)
    assert (scores.collection, scores.runs, scores.topics) == ("gsm8k", ("org/a", "org/b"), ("0", "1", "2"))
    assert [(str(one), one.higher_is_better) for one in scores.measures] == [
        ("exact_match,strict", False),
        ("exact_match,flexible", False),
    ]


def test_what_is_no_number_a_sample_is_no_measure(tmp_path):
    write_lm_eval(tmp_path, "a", [lm_sample(0, True, perplexity=[-3.5, 7]), lm_sample(1, False, perplexity=[-1, 2])])
    with pytest.warns(PolicyWarning, match="no number a sample, left out: perplexity,none"):
        scores = read_scores(tmp_path)
    assert scores.values.ravel().tolist() == [1, 0]


@pytest.mark.parametrize("pack", [gzip.compress, lambda content: pa.compress(content, "zstd", asbytes=True)])
def test_samples_that_are_packed_are_unpacked(pack, tmp_path):
    path = write_lm_eval(tmp_path, "a", [lm_sample(doc, 0.5) for doc in range(4)])
    suffix = ".gz" if pack is gzip.compress else ".zst"
    content = pack(path.read_bytes()) if suffix == ".gz" else _zstd(path.read_bytes())
    packed = path.with_name(path.name + suffix)
    packed.write_bytes(content)
    path.unlink()
    assert read_scores(packed).values.ravel().tolist() == [0.5] * 4


def _zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


@needs_data
def test_the_fixture_of_lm_eval_is_read_as_json_reads_it():
    (path,) = (FIXTURES / "lm_eval").glob("samples_*.jsonl")
    (results,) = (FIXTURES / "lm_eval").glob("results_*.json")
    model = json.loads(results.read_text())["model_name"]
    records = [json.loads(line) for line in path.read_text().splitlines()]
    expected = {
        ("math_perturbed_full", model, str(r["doc_id"]), f"{name},{r['filter']}"): r[name]
        for r in records
        for name in r["metrics"]
    }
    found = read_collections(FIXTURES / "lm_eval")
    assert cells(found) == expected
    assert found[0].measures[0].higher_is_better is True


# Inspect


def inspect_log(model, samples, task="arc", status="success"):
    return {"version": 2, "status": status, "eval": {"task": task, "model": model}, "samples": samples}


def inspect_sample(name, value, epoch=1, scorer="choice"):
    return {"id": name, "epoch": epoch, "scores": {scorer: {"value": value}}}


def write_eval(path, log, method=zipfile.ZIP_DEFLATED, parts=False):
    with zipfile.ZipFile(path, "w", method) as archive:
        header = {key: value for key, value in log.items() if key != "samples"}
        archive.writestr("header.json", json.dumps(header))
        if parts:
            for number, sample in enumerate(log["samples"]):
                archive.writestr(f"samples/{number}.json", json.dumps(sample))
        else:
            archive.writestr("summaries.json", json.dumps(log["samples"]))
    return path


GRADES = [("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), (True, 1.0), (0.25, 0.25), ("0.75", 0.75), (3, 3.0)]


@pytest.mark.parametrize("kind", ["json", "archive", "archive of samples"])
def test_grades_of_inspect_are_numbers_and_epochs_are_averaged(kind, tmp_path):
    samples = [inspect_sample(name, grade) for name, (grade, _) in enumerate(GRADES)]
    samples += [inspect_sample(name, 1.0, 2) for name in range(len(GRADES))]
    log = inspect_log("m", samples)
    path = tmp_path / ("a.json" if kind == "json" else "a.eval")
    if kind == "json":
        write_json(path, log)
    else:
        write_eval(path, log, parts=kind != "archive")
    with pytest.warns(PolicyWarning, match="2 epochs of arc: their mean was taken"):
        scores = read_scores(path)
    assert scores.values.ravel().tolist() == [(value + 1) / 2 for _, value in GRADES]
    assert (scores.collection, scores.runs, str(scores.measures[0])) == ("arc", ("m",), "choice")
    assert scores.repeats["choice"].count == 2


@pytest.mark.filterwarnings("ignore:2 epochs of arc")
def test_a_mean_of_fewer_epochs_than_others_have_is_refused_or_left_out(tmp_path):
    samples = [
        inspect_sample(name, "C", epoch) for name in ("x", "y", "z") for epoch in (1, 2) if (name, epoch) != ("y", 2)
    ]
    write_json(tmp_path / "a.json", inspect_log("m", samples))
    with pytest.raises(DataError, match=r"topic y, repeat 2.*repeats are unequal: missing=drop-topic or drop-run"):
        read_scores(tmp_path / "a.json")
    with pytest.warns(PolicyWarning, match="left out 1 of 3 topics"):
        assert read_scores(tmp_path / "a.json", missing="drop-topic").topics == ("x", "z")


def test_several_values_of_a_scorer_are_measures_of_their_own_and_what_is_not_scored_is_missing(tmp_path):
    samples = [inspect_sample("x", {"f": 0.5, "g": "C"}), inspect_sample("y", {"f": float("nan"), "g": "I"})]
    write_json(tmp_path / "a.json", inspect_log("m", samples))
    with pytest.raises(DataError, match=r"topic y, measure choice/f: there is no score .*missing=drop-topic"):
        read_scores(tmp_path / "a.json")
    with pytest.warns(PolicyWarning, match="left out 1 of 2 topics"):
        assert read_scores(tmp_path / "a.json", missing="drop-topic").values.ravel().tolist() == [0.5, 1]


def test_two_logs_of_a_model_on_a_task_are_refused_or_told_apart_by_their_names(tmp_path):
    for name in ("one", "two"):
        write_json(tmp_path / f"{name}.json", inspect_log("m", [inspect_sample("x", "C")]))
    with pytest.raises(DataError, match=r"one.json is of the same run on the task arc .*columns=\{'run': 'file'\}"):
        read_scores(tmp_path)
    assert read_scores(tmp_path, columns={"run": "file"}).runs == ("m (one)", "m (two)")


def test_a_log_without_scores_is_listed_and_is_no_row_of_zeros(tmp_path):
    write_json(tmp_path / "one.json", inspect_log("m", [inspect_sample("x", "C")]))
    write_json(tmp_path / "two.json", inspect_log("n", [{"id": "x", "epoch": 1, "scores": {}}]))
    with pytest.warns(PolicyWarning, match=r"1 log without scores left out: two.json|1 sample of 1 not scored"):
        assert read_scores(tmp_path).runs == ("m",)
    write_json(tmp_path / "three.json", inspect_log("o", [inspect_sample("x", "C")], status="cancelled"))
    with pytest.warns(PolicyWarning, match="its status is 'cancelled', not success|not scored|without scores"):
        assert read_scores(tmp_path).runs == ("m", "o")


def test_members_of_an_archive_may_be_packed_by_zstd(tmp_path):
    log = inspect_log("m", [inspect_sample("x", "C"), inspect_sample("y", "P")])
    path = write_eval(tmp_path / "a.eval", log, zipfile.ZIP_STORED)
    packed = {}
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            packed[name] = (_zstd(content), len(content), zlib.crc32(content))
    path.write_bytes(_zip_of_zstd(packed))
    assert read_scores(path).values.ravel().tolist() == [1, 0.5]


def _zip_of_zstd(members):
    """A ZIP file of method 93, which the zipfile module does not write."""
    body, directory = b"", b""
    for name, (content, size, crc) in members.items():
        head = struct.pack("<HHHHHIIIHH", 63, 0, 93, 0, 0, crc, len(content), size, len(name), 0)
        directory += (
            b"PK\x01\x02" + struct.pack("<H", 63) + head + struct.pack("<HHHII", 0, 0, 0, 0, len(body)) + name.encode()
        )
        body += b"PK\x03\x04" + head + name.encode() + content
    end = struct.pack("<HHHHIIH", 0, 0, len(members), len(members), len(directory), len(body), 0)
    return body + directory + b"PK\x05\x06" + end


@needs_data
@pytest.mark.parametrize(
    "path", sorted([*FIXTURES.glob("inspect/*.json"), *EVALS.glob("inspect/*.*")]), ids=lambda p: p.name
)
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_the_fixtures_of_inspect_are_read_as_json_reads_them(path):
    if path.suffix == ".eval":
        with zipfile.ZipFile(path) as archive:
            log = json.loads(archive.read("header.json")) | {"samples": json.loads(archive.read("summaries.json"))}
    elif path.suffix == ".json":
        log = json.loads(path.read_text())
    else:
        return
    values = {"C": 1.0, "I": 0.0}
    expected = {
        (log["eval"]["task"], log["eval"]["model"], str(sample["id"]), scorer): values[given["value"]]
        for sample in log["samples"]
        for scorer, given in (sample["scores"] or {}).items()
    }
    if expected:
        assert cells(read_collections(path)) == expected
    else:
        with pytest.raises(DataError, match="there are no scores in it"):
            read_collections(path)


# HELM


def helm_stat(name, mean, *, count=1, split="test", perturbation=None):
    named = {"name": name, "split": split} | ({"perturbation": perturbation} if perturbation else {})
    return {"name": named, "count": count, "sum": mean * count, "mean": mean}


def write_helm(folder, model, instances, name="mmlu:subject=law,model=x"):
    write_json(folder / "run_spec.json", {"name": name, "adapter_spec": {"model": model}})
    write_json(folder / "per_instance_stats.json", instances)


def helm_instance(name, *stats, trial=0):
    return {"instance_id": name, "train_trial_index": trial, "stats": list(stats)}


def test_perturbed_instances_of_helm_are_a_collection_of_their_own_and_trials_are_averaged(tmp_path):
    typos = {"name": "misspelling", "prob": 0.5}
    for model, score in (("org/a", 1.0), ("org/b", 0.5)):
        instances = [
            helm_instance("i1", helm_stat("em", score), helm_stat("num_references", 4)),
            helm_instance("i1", helm_stat("em", 0), trial=1),
            helm_instance("i1", helm_stat("em", score / 4, perturbation=typos)),
            helm_instance("i2", helm_stat("em", 0.25, count=2), helm_stat("logprob", -3.0)),
            helm_instance("i2", helm_stat("em", 0.75, count=2), trial=1),
        ]
        write_helm(tmp_path / model.replace("/", "_"), model, instances)
    with pytest.warns(PolicyWarning, match="2 epochs of mmlu:subject=law: their mean was taken"):
        plain, perturbed = read_collections(tmp_path)
    assert (plain.collection, perturbed.collection) == ("mmlu:subject=law", "mmlu:subject=law misspelling/prob=0.5")
    assert plain.values[:, :, 0].tolist() == [[0.5, 0.5], [0.25, 0.5]]
    assert perturbed.values.ravel().tolist() == [0.25, 0.125]
    assert [str(one) for one in plain.measures] == ["em"]


@needs_data
def test_the_fixtures_of_helm_are_read_as_json_reads_them():
    expected = {}
    for folder in sorted((FIXTURES / "helm").iterdir()):
        spec = json.loads((folder / "run_spec.json").read_text())
        task = ",".join(part for part in spec["name"].split(",") if not part.startswith("model="))
        task = task.partition(":model=")[0]
        stats = json.loads((folder / "per_instance_stats.json").read_text())
        splits = {stat["name"]["split"] for one in stats for stat in one["stats"]}
        for one in stats:
            for stat in one["stats"]:
                name = stat["name"]["name"]
                quality = any(word in name for word in ("match", "f1", "rouge", "bleu"))
                if quality and stat["count"]:
                    collection = f"{task} {stat['name']['split']}" if len(splits) > 1 else task
                    expected[collection, spec["adapter_spec"]["model"], one["instance_id"], name] = stat["mean"]
    found = cells(read_collections(FIXTURES / "helm"))
    assert found == pytest.approx(expected, abs=1e-12)
    assert len(found) == 10 * 8 + 10 * 8 + 5 * 6


# MTEB, PyTerrier


def write_mteb(folder, model, task, splits, revision="abc"):
    scores = {
        split: [{"main_score": one, "hf_subset": str(n)} for n, one in enumerate(values)]
        for split, values in splits.items()
    }
    write_json(folder / model / revision / f"{task}.json", {"task_name": task, "scores": scores, "mteb_version": "1"})


def test_tasks_of_mteb_are_topics(tmp_path):
    for model, add in (("org__a", 0.0), ("org__b", 0.25)):
        write_mteb(tmp_path, model, "Banking", {"test": [0.5 + add]})
        write_mteb(tmp_path, model, "Tatoeba", {"test": [0.25, 0.75], "dev": [add]})
        write_json(tmp_path / model / "abc" / "model_meta.json", {"name": model})
    (scores,) = read_collections(tmp_path)
    assert (scores.runs, scores.topics) == (("org/a", "org/b"), ("Banking", "Tatoeba test", "Tatoeba dev"))
    assert scores.values[:, :, 0].tolist() == [[0.5, 0.5, 0], [0.75, 0.5, 0.25]]
    write_mteb(tmp_path, "org__a", "Banking", {"test": [0.1]}, revision="later")
    write_mteb(tmp_path, "org__a", "Tatoeba", {"test": [0.1], "dev": [0.2]}, revision="later")
    assert read_scores(tmp_path).runs == ("org/a@abc", "org/a@later", "org/b")


def test_per_query_results_of_pyterrier_are_a_table(tmp_path):
    (tmp_path / "perquery.csv").write_text(
        "name,qid,measure,value\nBM25,1,map,0.5\nBM25,2,map,0.25\nDPH,1,map,1\nDPH,2,map,0\n"
    )
    scores = read_scores(tmp_path / "perquery.csv")
    assert (scores.runs, scores.topics, scores.values.ravel().tolist()) == (
        ("BM25", "DPH"),
        ("1", "2"),
        [0.5, 0.25, 1, 0],
    )


# Whatever is wrong with them


def broken(folder):
    """Yield files that no harness would write."""
    good = json.dumps(inspect_log("m", [inspect_sample("x", "C")]))
    yield folder / "a.json", good[: len(good) // 2]
    yield folder / "a.json", good.replace('"C"', '"?"')
    yield folder / "a.json", good.replace('"C"', '"nan_"')
    yield folder / "a.json", good.replace('"C"', "1e999")
    yield folder / "a.json", good.replace('"epoch": 1', '"epoch": "one"')
    yield folder / "a.json", json.dumps({"eval": 1, "status": 2, "samples": 3})
    yield folder / "a.eval", "no archive"
    yield folder / "a.eval", b"PK\x03\x04 nothing more"
    yield folder / "run_spec.json", json.dumps({"name": "x", "adapter_spec": {}})
    yield folder / "samples_t_2026-01-01T00-00-00.jsonl", '{"doc_id": 0, "metrics": ["m"], "filter": "none"}\n'
    yield folder / "samples_t_2026-01-01T00-00-00.jsonl", '{"doc_id": [0], "metrics": [], "filter": "none"}\n'
    yield (
        folder / "samples_t_2026-01-01T00-00-00.jsonl",
        '{"doc_id": 0, "filter": "none", "metrics": ["m"], "m": 1}\n{"doc',
    )
    yield folder / "x_samples.jsonl", json.dumps(eee_sample("m", "s", "high")) + "\n"
    yield folder / "x_samples.jsonl", json.dumps(eee_sample("", "s", 1)) + "\n"
    yield folder / "x_samples.jsonl", json.dumps(eee_sample("m", {"a": 1}, 1)) + "\n"
    yield folder / "d.json", json.dumps({"task_name": "t", "scores": {"test": [{"main_score": "x"}]}})
    yield folder / "d.json", json.dumps({"task_name": 1.5, "scores": {}})


@pytest.mark.parametrize("number", range(17))
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_broken_logs_end_in_one_sentence(number, tmp_path):
    path, content = list(broken(tmp_path))[number]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for source in (path, tmp_path):
        with pytest.raises(MetaevalError) as refused:
            read_collections(source)
        assert "\n" not in str(refused.value)


def test_a_folder_of_several_harnesses_is_refused(tmp_path):
    write_json(tmp_path / "a.json", inspect_log("m", [inspect_sample("x", "C")]))
    write_mteb(tmp_path, "org__a", "b", {"test": [0.5]})
    with pytest.raises(DataError, match=r"logs of several formats: inspect \(a.json\) and mteb \(b.json\)"):
        read_scores(tmp_path)


def test_a_large_archive_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("summaries.json", b"0" * 5_000_000)
    (tmp_path / "a.eval").write_bytes(content.getvalue())
    monkeypatch.setenv("METAEVAL_LARGEST_FILE", "1000000")
    with pytest.raises(DataError, match="unpacked, it has 5,000,002 bytes"):
        read_scores(tmp_path / "a.eval")


@pytest.mark.parametrize("format", LOG_FORMATS)
def test_no_log_is_written(format, tmp_path):
    write_lm_eval(tmp_path, "a", [lm_sample(0, 1.0)])
    with pytest.raises(MetaevalError, match=f"the format {format} is read, not written: write format=tidy"):
        write_scores(read_scores(tmp_path), tmp_path / "out", format=format)


def test_a_direction_of_one_log_that_another_contradicts_is_refused(tmp_path):
    write_lm_eval(tmp_path / "a", "a", [lm_sample(0, 1.0)], up=True)
    write_lm_eval(tmp_path / "b", "b", [lm_sample(0, 1.0)], up=False)
    with pytest.raises(
        DataError, match="run b, measure exact_match,none: its direction is not that of the same measure"
    ):
        read_scores(tmp_path)


def test_samples_are_streamed(tmp_path):
    record = json.dumps({"doc_id": 0, "filter": "none", "metrics": ["m"], "m": 0.5, "resps": "x" * 100_000})
    path = tmp_path / "samples_t_2026-01-01T00-00-00.jsonl"
    with path.open("w") as file:
        for doc in range(300):
            file.write(record.replace('"doc_id": 0', f'"doc_id": {doc}') + "\n")
    import tracemalloc

    tracemalloc.start()
    try:
        scores = read_scores(path)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000  # the file has 30,000,000 bytes
    finally:
        tracemalloc.stop()
    assert np.array_equal(scores.values, np.full((1, 300, 1), 0.5))


WRITERS = (
    lambda folder: write_eee(folder, "a", [eee_sample("a", "s1", 1.0), eee_sample("a", "s2", 0.5)]),
    lambda folder: write_lm_eval(folder, "m", [lm_sample(0, 1.0), lm_sample(1, 0.0, f1=0.5)]),
    lambda folder: write_json(
        folder / "a.json", inspect_log("m", [inspect_sample("x", "C"), inspect_sample("y", {"f": 1})])
    ),
    lambda folder: write_eval(
        folder / "a.eval", inspect_log("m", [inspect_sample("x", "C"), inspect_sample("y", "P")])
    ),
    lambda folder: write_helm(folder / "h", "m", [helm_instance("i", helm_stat("em", 1.0)), helm_instance("j")]),
    lambda folder: write_mteb(folder, "m", "T", {"test": [0.5, 0.25]}),
    lambda folder: write_json(
        folder / "d.json", {"testCases": [{"name": "c", "metricsData": [{"name": "m", "score": 1}]}]}
    ),
    lambda folder: write_json(
        folder / "p.json",
        {"results": {"results": [{"promptIdx": 0, "testIdx": 0, "provider": {"id": "x"}, "score": 1}]}},
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(len(WRITERS)))
@pytest.mark.filterwarnings("ignore::metaeval.errors.PolicyWarning")
def test_logs_of_any_other_structure_end_in_one_sentence(number, tmp_path):
    for case in range(40 * int(os.environ.get("HOSTILE_INPUTS", "1"))):
        rng = random.Random(f"log {number} {case}")
        folder = tmp_path / str(case)
        folder.mkdir()
        WRITERS[number](folder)
        victim = rng.choice(sorted(path for path in folder.rglob("*") if path.is_file()))
        mutate = mutate_json if victim.suffix == ".json" else mutate_text
        victim.write_bytes(mutate(rng, victim.read_bytes()))
        for source in (folder, victim):
            with contextlib.suppress(MetaevalError):
                read_collections(source)
