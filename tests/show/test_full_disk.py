"""A disk that is full while a figure is written is an OSError, whatever library writes it."""

import os

import pytest
from matplotlib.figure import Figure

from metaeval.show.drawing import save_figure


@pytest.mark.skipif(os.name != "posix", reason="needs a limit of the size of files")
@pytest.mark.parametrize("suffix", [".pdf", ".png", ".svg"])
def test_a_figure_that_does_not_fit_is_refused_by_the_system_only(tmp_path, suffix):
    import resource

    figure = Figure()
    figure.subplots().plot([1, 2])
    size = save_figure(figure, tmp_path, "whole", (suffix,))[0].stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        for limit in range(0, size, size // 20):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
            with pytest.raises(OSError, match="File too large"):
                save_figure(figure, tmp_path, "part", (suffix,))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
