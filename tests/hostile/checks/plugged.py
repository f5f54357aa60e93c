"""Item 2: measures of users that are no functions of their two arguments."""

from __future__ import annotations

from functools import partial

from tests.hostile.campaign import Case, Finding
from tests.hostile.plugins import FAULTS, HARMLESS, ONLY_COMMAND, score_by_command, score_in_process, write_measure

IN_PROCESS = [
    "centred on the batch",
    "ranks",
    "by position",
    "complex",
    "masked",
    "dates",
    "exits",
    "random",
    "by the clock",
    "by turns",
    "by calls, later",
    "changes numpy's errors",
    "writes to its inputs",
]
BY_COMMAND = [
    "centred on the batch",
    "ranks",
    "first cell wrong",
    "complex",
    "masked",
    "exits",
    "loops",
    "ends the process",
    "random",
    "by calls, later",
    "prints",
    "prints below Python",
    "writes to its inputs",
    "changes folder",
]


def _run(function, names, wanted, case):
    """Run the case of the campaign whose turn this fault is."""
    number = names.index(wanted)
    try:
        function(Case(case.part, number, 0, case.folder))
    except Finding as finding:
        return f"{finding.what} {finding.detail}".strip()
    return None


def conformance_refuses(case):
    """`conformance` itself refuses a measure that depends on its batch."""
    import metaeval as me

    for name in ("centred on the batch", "ranks"):
        space = {}
        exec(compile(write_measure(FAULTS[name], False), "plug.py", "exec"), space)  # noqa: S102  (written above)
        measure = me.Measure("f", False, kind="quantification", formula=space["f"])
        found, said = case.call(me.conformance, measure)
        if found is not None and not found.notes:
            return f"conformance passes a measure that is {name}"
        if found is None and "perfect" in said[0]:
            return f"conformance refuses {name} for its direction only"
    return None


_KNOWN = [
    name
    for name in FAULTS
    if name not in ONLY_COMMAND
    and name not in ("changes folder", "closes stdout", "closes file 1", "prints below Python")
]

CHECKS = {
    "2 conformance passes what depends on its batch": conformance_refuses,
    **{f"2 in Python: {name}": partial(_run, score_in_process, _KNOWN, name) for name in IN_PROCESS},
    **{f"2 by command: {name}": partial(_run, score_by_command, list(FAULTS), name) for name in BY_COMMAND},
}
assert set(BY_COMMAND) <= set(FAULTS) and HARMLESS  # noqa: PT018
