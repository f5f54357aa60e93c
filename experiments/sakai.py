"""What the studies of ACL 2021 and LQ 2021 share: where collections come from, and how they are scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import metaeval
from experiments.study import Settings
from metaeval.simulate.campaigns import campaign

SIMULATED = "simulated: "


def scores_of(names: str | Sequence[str], measures: Sequence[str], settings: Settings) -> metaeval.Scores:
    """Return the scores of the first data set of a list that can be had, simulated where its name says so.

    Parameters
    ----------
    names : str or sequence of str
    measures : sequence of str
    settings : Settings

    Returns
    -------
    Scores

    Raises
    ------
    MetaevalError
        If none can be had.
    """
    tried = [names] if isinstance(names, str) else list(names)
    for number, name in enumerate(tried, start=1):
        try:
            simulated = name.startswith(SIMULATED)
            found = campaign(name.removeprefix(SIMULATED), settings.seed) if simulated else settings.load(name)
        except metaeval.MetaevalError:
            if number == len(tried):
                raise
            continue
        return (
            found.sel(measures=list(measures))
            if isinstance(found, metaeval.Scores)
            else metaeval.score(found, measures)
        )
    raise metaeval.MetaevalError("no data set was named")


def run_called(runs: Iterable[str], part: str) -> str | None:
    """Return the first run whose name holds a part.

    Examples
    --------
    >>> run_called(["x", "A_BL-uniform-C"], "BL-uniform"), run_called(["x"], "BL-uniform")
    ('A_BL-uniform-C', None)
    """
    return next((run for run in runs if part in run), None)
