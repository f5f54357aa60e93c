"""Named public data sets: what there is, where it is from, and how to have it as runs or scores."""

from metaeval.datasets import baselines
from metaeval.datasets.download import fetch, remember_unreachable_hosts
from metaeval.datasets.load import load_dataset
from metaeval.datasets.registry import Dataset, File, built_folder, cache_folder, dataset, datasets

__all__ = [
    "Dataset",
    "File",
    "baselines",
    "built_folder",
    "cache_folder",
    "dataset",
    "datasets",
    "fetch",
    "load_dataset",
    "remember_unreachable_hosts",
]
