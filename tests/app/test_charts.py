"""Charts of the playground."""

import numpy as np
import pytest

pytest.importorskip("streamlit", reason="Streamlit is not installed")

from metaeval.app.charts import draw_lines
from metaeval.show.looks import find_looks


def test_curves_look_as_their_measures_do_in_all_figures():
    names = ["NMD", "RNOD", "JSD", "mine"]
    drawn = draw_lines({name: (np.arange(3.0), np.arange(3.0)) for name in names}, ("x", "y"))
    line, point = (one["encoding"] for one in drawn["layer"])
    looks = [find_looks(names)[name] for name in names]
    assert line["color"]["scale"] == {"domain": names, "range": [look.light for look in looks]}
    assert line["strokeDash"]["scale"]["range"] == [
        [int(length) for length in look.to_dict()["dash"].split()] for look in looks
    ]
    assert len(set(point["shape"]["scale"]["range"])) == len(names)
    assert line["color"] == point["color"]  # a legend is drawn only if all layers have it
    assert line["color"]["legend"]
