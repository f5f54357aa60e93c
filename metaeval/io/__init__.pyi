from .formats import (
    LOG_FORMATS as LOG_FORMATS,
    RUN_FORMATS as RUN_FORMATS,
    SCORE_FORMATS as SCORE_FORMATS,
    sakai as sakai,
    tidy as tidy,
    wide as wide,
    wmt as wmt,
)
from .inspection import inspect_scores as inspect_scores
from .judges import read_annotations as read_annotations
from .qrels import read_judged_runs as read_judged_runs
from .runs import read_runs as read_runs
from .scores import (
    from_frame as from_frame,
    read_collections as read_collections,
    read_scores as read_scores,
    write_scores as write_scores,
)
