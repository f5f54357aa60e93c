"""What of the campaign runs with the other tests: the one place to switch a part, or the check of a defect, on.

A part stands in `CLEAN` or `PARTS_NOT_YET`, the check of a defect in `MENDED` or `DEFECTS_NOT_YET`: move its line
when what it finds is mended.
"""

from __future__ import annotations

INPUTS = 1500
"""Inputs if all parts were clean; a part has its share of them."""

SEED = 11

SECONDS = 50
"""When to stop at the latest."""

CLEAN = (
    "files/tidy",
    "files/parquet",
    "files/wide",
    "files/sakai",
    "files/trec_eval",
    "files/wmt",
    "files/leaderboard",
    "files/annotations",
    "files/semeval-c",
    "files/semeval-e",
    "files/dialogue-quality",
    "files/judgements",
    "files/labels",
    "files/probabilities",
    "files/polarity",
    "api/frames",
    "api/scores",
    "api/options",
    "cli/options",
    "store/kills",
    "store/flips",
    "store/damage",
    "plugins/function",
    "plugins/command",
    "metamorphic/subset",
    "metamorphic/directions",
    "metamorphic/threads",
    "metamorphic/batch",
    "metamorphic/formats",
    "api/analyses",
    "cli/names",
    "cli/figures",
    "cli/paths",
    "cli/interrupt",
    "metamorphic/scale",
    "metamorphic/shuffle",
)
"""Parts of the campaign that find nothing."""

PARTS_NOT_YET: tuple[str, ...] = ()
"""Parts that find something today."""

MENDED = (
    "1 compare ignores --lower-is-better with -s",
    "1 compare takes a flag that does nothing",
    "1 commands without --lower-is-better",
    "1 directions not known by name",
    "1 a statement does not win",
    "2 in Python: changes numpy's errors",
    "2 in Python: writes to its inputs",
    "2 by command: writes to its inputs",
    "4 scale changes power randomised-tukey-hsd",
    "4 scale changes power paired-randomisation",
    "4 scale changes similarity",
    "4 scale changes consistency",
    "4 scale changes sample_size",
    "8 a flipped bit in labels is not seen",
    "8 remove on file:// removes nothing",
    "8 the old layout",
    "8 errors that are not wrapped",
    "1 assumed directions are not said",
    "2 conformance passes what depends on its batch",
    "2 in Python: centred on the batch",
    "2 in Python: ranks",
    "2 in Python: by position",
    "2 in Python: complex",
    "2 in Python: masked",
    "2 in Python: dates",
    "2 in Python: exits",
    "2 in Python: random",
    "2 in Python: by the clock",
    "2 in Python: by turns",
    "2 in Python: by calls, later",
    "2 by command: centred on the batch",
    "2 by command: ranks",
    "2 by command: first cell wrong",
    "2 by command: complex",
    "2 by command: masked",
    "2 by command: exits",
    "2 by command: loops",
    "2 by command: ends the process",
    "2 by command: random",
    "2 by command: by calls, later",
    "2 by command: prints",
    "2 by command: prints below Python",
    "2 by command: changes folder",
    "3 polarity drops gold items in silence",
    "7 from_frame takes dates",
    "7 from_frame takes complex numbers",
    "7 from_frame merges labels",
    "6 robustness leaves runs out in silence",
    "6 the same data count twice",
    "8 a partial load takes another collection's file",
    "8 a partial load takes damaged labels",
    "8 an edited manifest: names of measures",
    "8 an edited manifest: a direction",
    "8 an edited manifest: collections",
    "9 memory of a sparse file",
    "9 memory of a sparse file, drop-topic",
    "9 a pipe hangs",
    "9 a device never ends",
    "9 many columns take long",
    "9 many keys take long",
    "9 a small file of many rows",
    "9 messages without end",
    "10 stdout that is cp1252",
    "10 stdout that is ascii",
    "10 dollars in names",
    "10 raw exceptions",
    "10 raw PermissionError",
    "4 tau ties by the largest value",
    "4 scale changes power tukey-hsd",
    "4 scale changes power paired-t",
    "4 scale changes power paired-bootstrap",
    "4 scale changes robustness",
    "4 scale changes coverage",
    "4 scale changes contradictions tukey-hsd",
    "5 order of rows moves p-values",
    "5 a file loses its collection",
    "10 a full disk leaves --out half written",
    "10 compare -o does not ask for --overwrite",
    "10 compare -o computes before it looks",
    "10 SIGTERM leaves --out half written",
    "10 SIGKILL leaves --out half written",
    "10 SIGTERM leaves stray folders",
    "10 a killed worker",
)
"""Checks of defects that are not there."""

DEFECTS_NOT_YET: tuple[str, ...] = ()
"""Checks of defects that are there today."""

SLOW = (
    "1 compare ignores --lower-is-better with -s",
    "1 compare takes a flag that does nothing",
    "2 by command: loops",
    "9 many columns take long",
    "9 many keys take long",
    "10 stdout that is ascii",
    "9 a small file of many rows",
    "10 stdout that is cp1252",
    "10 dollars in names",
    "10 SIGTERM leaves --out half written",
    "10 SIGKILL leaves --out half written",
    "10 compare -o does not ask for --overwrite",
    "10 compare -o computes before it looks",
    "10 SIGTERM leaves stray folders",
    "10 a killed worker",
)
"""Checks that take long: only ``python -m tests.hostile --defects`` runs them, mended or not."""
