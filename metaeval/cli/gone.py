"""Options that are gone: for one release, the command line says what to do instead."""

from __future__ import annotations

GONE = {
    "agreement --test": "metaeval compare --reference counts which significant pairs of runs a reference confirms",
    "agreement --n-jobs": "it works in one thread",
    "agreement --runs": "--missing drop-run leaves out the runs and topics that the reference lacks",
    "agreement --topics": "--missing drop-topic leaves out the runs and topics that the reference lacks",
    "agreement --no-simultaneous": "-m two measures: the interval of their difference is then for this pair alone",
    "--resume": "run the command again from its beginning",
    "--cluster": "call the function in Python inside joblib.parallel_config, as docs/how-to/scale-out.md shows",
    "--sweep": "run coverage once for each set of reference measures, which -r names",
    "--p-add-one": "Python's discriminative_power takes p_add_one",
    "--variance-offset": "Python's discriminative_power takes variance_offset",
    "power --over": "intervals speak of other topics",
    "similarity --over": "intervals speak of other topics",
    "ranks --over": "ranks speak of other topics of these tasks",
    "ranks --task-weights": "every task counts the same; take the mean of tasks in pandas to weigh them",
    "ranks --categories": "every task counts the same; --columns collection=category makes a category a task",
    "--plan": "draw the topics to label next at random",
    "--pair": "--out writes what is concluded about every pair of runs",
    "qrels --statistic": "rankings of runs are compared by τ_b",
    "--groups": "take the documents that only a group's runs found out of the judgements, and compare the two files",
    "--pool-depth": "take the documents that only a group's runs found out of the judgements, and compare the two files",
    "--scale": "write the grades on people's scale into the file",
    "sample-size --samples": "it counts no significant differences: power of fewer topics does",
    "--gaps": "it is --missing: present or complete",
    "--method": "intervals are those that hold with few labels too",
    "--time-limit": "a user's measure runs in the command itself, and Ctrl-C stops it",
    "--rounding": "round labels in pandas or numpy first, as docs/how-to/bring-your-data.md says",
    "--engine": "there is one kernel, with the same numbers",
    "compare --data": "sources stand by themselves: metaeval compare scores.csv -m MEASURE",
    "compare -d": "sources stand by themselves: metaeval compare scores.csv -m MEASURE",
    "app --measure": "the playground runs no code of yours: metaeval compare -m FILE.py:FUNCTION compares your measure",
    "app -m": "the playground runs no code of yours: metaeval compare -m FILE.py:FUNCTION compares your measure",
}
"""By option, or by command and option, what to do instead."""
