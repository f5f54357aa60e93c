"""Flip every single bit of a small store, and see what every way of reading it then says.

``python -m tests.data.flip_store`` goes through all of them and prints the counts; the test-suite takes a sample.
"""

import argparse
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np

from metaeval import Measure, Scores, ScoreStore
from metaeval.errors import StoreError


def make_store(folder):
    """Make a store of two collections with the same labels, so that each could be taken for the other."""
    store = ScoreStore(folder)
    rng = np.random.default_rng(0)
    measures = ["NMD", Measure("cost", higher_is_better=False, range=(0, 5))]
    labels = {"runs": ["a", "b"], "topics": ["1", "2", "3"], "measures": measures}
    for name in ("one", "two"):
        store.add(Scores(rng.random((2, 3, 2)), **labels, collection=name, provenance="somewhere"))
    return store


def reads_of(folder):
    """Return every way of reading the store, by what is read."""
    store = ScoreStore(folder)
    reads = {"collections": store.collections}
    for name in ("one", "two"):
        for measures in (None, ["NMD"], ["cost"]):
            reads[f"load {name} {measures}"] = lambda name=name, measures=measures: load(store, name, measures)
    return reads


def load(store, name, measures):
    scores = store.load(name, measures)
    labels = scores.runs, scores.topics, scores.measures
    return scores.values.tobytes(), labels, scores.collection, scores.provenance


def flip_bits(folder, share=1.0, seed=0):
    """Flip bits one at a time and count what each read then says: detected, harmless, or WRONG with what and where."""
    reads = reads_of(folder)
    right = {what: read() for what, read in reads.items()}
    rng = np.random.default_rng(seed)
    counts = Counter()
    for path in sorted(Path(folder).glob("[!.]*")):
        content = path.read_bytes()
        kind = path.name.partition(".")[0]
        opening = {what: read for what, read in reads.items() if kind == "manifest" or kind in what.split()}
        for position in np.flatnonzero(rng.random(8 * len(content)) < share).tolist():
            flipped = bytearray(content)
            flipped[position // 8] ^= 1 << position % 8
            path.write_bytes(flipped)
            for what, read in opening.items():
                try:
                    verdict = "harmless" if read() == right[what] else f"WRONG {what} bit {position}"
                except StoreError:
                    verdict = "detected"
                except Exception as error:
                    verdict = f"WRONG {what} bit {position}: {type(error).__name__}: {error}"
                scope = "whole" if what.endswith("None") else "partial" if what.startswith("load") else "no scores"
                counts[kind, scope, verdict] += 1
            counts[kind, "", "flips"] += 1
        path.write_bytes(content)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="flip only this share of the bits")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make_store(folder)
        counts = flip_bits(folder, options.share, options.seed)
    for (kind, scope, verdict), count in sorted(counts.items()):
        print(f"{kind:9} {scope:14} {verdict}: {count:,}")
    raise SystemExit(any(verdict.startswith("WRONG") for _, _, verdict in counts))


if __name__ == "__main__":
    main()
