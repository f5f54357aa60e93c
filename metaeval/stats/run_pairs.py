"""Differences of every two runs on every topic, of which memory holds those of one run and a block of others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from metaeval.stats.blocks import FloatArray, Scaled, split_runs
from metaeval.stats.progress import tell


def split_pairs(scores: Scaled, what: str, measures: Sequence[int] | None = None) -> Iterator[tuple[slice, FloatArray]]:
    """Yield the differences of runs, the first less the second, some pairs at a time, and tell how far that has come.

    Pairs are a slice of the order of ``np.triu_indices(n_runs, 1)``, and their differences have shape (pair, topic, measure).
    """
    columns = slice(None) if measures is None else list(measures)
    n_runs = len(scores.values)
    n_pairs, done = n_runs * (n_runs - 1) // 2, 0
    for ones in split_runs(scores.values):
        left = scores[ones][..., columns]
        for others in split_runs(scores.values):
            if others.stop <= ones.start:
                continue
            right = left if others == ones else scores[others][..., columns]
            for run in range(ones.start, ones.stop):
                start = max(run + 1, others.start)
                if start >= others.stop:
                    continue
                # Pairs of one run are one after the other, behind those of the runs before it.
                first = run * n_runs - run * (run + 1) // 2 + start - run - 1
                pairs = slice(first, first + others.stop - start)
                yield pairs, left[run - ones.start] - right[start - others.start :]
                done += pairs.stop - pairs.start
            tell(what, done, n_pairs)
