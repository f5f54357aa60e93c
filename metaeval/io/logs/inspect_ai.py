"""Inspect: ``.eval`` archives, of which header and summaries are read, and JSON logs."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from metaeval import files
from metaeval.data.policies import report_policy
from metaeval.errors import DataError, format_count, refusing
from metaeval.io.logs.rows import Cell, Log, LogFormat, as_score, has_keys, need, need_text
from metaeval.io.strict_json import count_values, parse_json

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer

MARKS = ('"eval"', '"status"', '"samples"')  # what stands in a JSON log


def find(paths: Sequence[files.PathLike]) -> Iterator[Log]:
    """Yield archives and JSON logs."""
    for path in paths:
        content = files.read_text(path) if str(path).lower().endswith(".json") else ""
        if str(path).lower().endswith(".eval") or all(mark in content for mark in MARKS):
            yield Log(path, partial(_read, path))


def _read(path: files.PathLike) -> Iterator[Cell]:
    if str(path).lower().endswith(".eval"):
        header, samples = _open_archive(path)
    else:
        header = parse_json(files.read_text(path), path, with_nan=True)
        samples = need(header, "samples", path) or []
    about = need(header, "eval", path)
    task = need_text(about, "task", path)
    model = need_text(about, "model", path)
    status = header.get("status")
    if status != "success" or header.get("invalidated"):
        word = "invalidated" if header.get("invalidated") else status
        report_policy(f"its status is {word!r}, not success: what is there is read", path)
    lacking = 0
    for sample in samples:
        topic = need_text(sample, "id", path)
        epoch = sample.get("epoch", 1)
        scores = sample.get("scores") or {}
        if not isinstance(scores, dict) or isinstance(epoch, bool) or not isinstance(epoch, int):
            raise DataError("the scores or the epoch are not as Inspect writes them", file=path, topic=topic)
        lacking += not scores
        for scorer, given in scores.items():
            value = need(given, "value", path)
            several = {f"{scorer}/{key}": part for key, part in value.items()} if isinstance(value, dict) else None
            for measure, part in ({scorer: value} if several is None else several).items():
                graded = isinstance(part, str) and part in GRADES
                score = GRADES[part] if graded else as_score(part, file=path, topic=topic, measure=measure)
                yield Cell(task, model, topic, measure, score, epoch)
    if lacking:
        report_policy(f"{format_count(lacking, 'sample')} of {len(samples):,} not scored", path)


def _open_archive(path: files.PathLike) -> tuple[dict[str, Any], list[Any]]:
    """Return header and samples of an archive, of which nothing is written anywhere."""
    content = files.read_bytes(path)
    faults = (zipfile.BadZipFile, zipfile.LargeZipFile, KeyError, EOFError, OSError, ValueError)
    with refusing("it is no whole archive of Inspect", path, *faults):
        archive = zipfile.ZipFile(io.BytesIO(content))
        names = archive.namelist()
        whole = "summaries.json" in names
        rest = ["summaries.json"] if whole else sorted(name for name in names if name.startswith("samples/"))
        parts = ["header.json", *rest]
        size = sum(archive.getinfo(name).file_size for name in parts)
        files.check_size(size, path, "unpacked, it has", files.find_most_unpacked(len(content)))
        texts, n_values = [], 0
        for name in parts:
            texts.append(_read_member(archive, content, name, path))
            n_values += count_values(texts[-1])
            files.check_cells(n_values, path, what="values", each=2 * files.BYTES_A_CELL)
        header, *found = (parse_json(text, path, with_nan=True) for text in texts)
        samples = found[0] if whole else found
    if not isinstance(header, dict) or not isinstance(samples, list):
        raise DataError("header and summaries are not as Inspect writes them", file=path)
    return header, samples


_ZSTD = 93


def _read_member(archive: zipfile.ZipFile, content: bytes, name: str, path: files.PathLike) -> str:
    info = archive.getinfo(name)
    if info.compress_type == _ZSTD:  # which the zipfile module does not know
        begin = info.header_offset + 30
        lengths = content[begin - 4 : begin]
        begin += int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
        packed = io.BytesIO(content[begin : begin + info.compress_size])
        with files.unpack(packed, "zstd", path) as stream:
            unpacked = stream.read(info.file_size + 1)
    else:
        with archive.open(info) as stream:
            unpacked = stream.read(info.file_size + 1)
    if len(unpacked) != info.file_size:
        raise DataError(f"{name} is not as large as the archive says", file=path)
    with refusing(f"{name} is not UTF-8", path, UnicodeDecodeError):
        return str(unpacked, "utf-8-sig")


def _claims(sample: Any) -> bool:
    if str(sample.path).lower().endswith(".eval"):
        return files.read_bytes(sample.path).startswith(b"PK\x03\x04")
    return has_keys("eval", "status", "samples")(sample)


INSPECT = LogFormat(find, _claims, "inspect")
