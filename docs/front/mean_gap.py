"""The measure of the tutorial."""

import numpy as np

import metaeval as me


@me.register_measure(kind="quantification", higher_is_better=False, range=(0, 1))
def mean_gap(estimated, gold):
    """How far apart are the mean classes?"""
    classes = np.arange(gold.shape[-1])
    return np.abs((estimated - gold) @ classes) / (gold.shape[-1] - 1)
