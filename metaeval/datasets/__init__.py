"""Named public data sets: what there is, where it is from, and how to have it as runs or scores."""

from metaeval.datasets import baselines as baselines
from metaeval.datasets.download import fetch as fetch
from metaeval.datasets.load import load_dataset as load_dataset
from metaeval.datasets.registry import (
    Dataset as Dataset,
    File as File,
    cache_folder as cache_folder,
    dataset as dataset,
    datasets as datasets,
)
