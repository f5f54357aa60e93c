"""What docs/scaling.md says of kills, growth, first calls, peers and clusters, from benchmarks/measured."""

from __future__ import annotations

from pathlib import Path

import pandas as pd


def describe_scaling(measured: Path) -> dict[str, list[str]]:
    """Return the sentences and tables by the names in their marks.

    Parameters
    ----------
    measured : Path
        benchmarks/measured.

    Returns
    -------
    dict of str to list of str
    """
    return {
        "resume": list_kills(pd.read_csv(measured / "resume.csv")),
        "growth": tabulate_growth(pd.read_csv(measured / "growth.csv")),
        "first calls": tabulate_first_calls(pd.read_csv(measured / "first_call.csv")),
        "peers": tabulate_peers(pd.read_csv(measured / "peers.csv")),
        "cluster": model_cluster(pd.read_csv(measured / "cluster.csv", index_col="name")["seconds"]),
    }


def list_kills(resume: pd.DataFrame) -> list[str]:
    """Say how many tasks were begun again after so many kills."""
    return [
        f"{row.name}: {row.kills} kills, {row.tasks} tasks, of which {row.again} were begun again; "
        f"the result was {'' if row.same else 'not '}the same"
        for row in resume.itertuples(index=False)
    ]


def tabulate_growth(growth: pd.DataFrame) -> list[str]:
    """Return a table of the exponents with which seconds grow."""
    lines = ["| | grows | sizes | exponent | seconds of the largest | copying as many bytes |"]
    lines.append("| :-- | :-- | :-- | --: | --: | --: |")
    for (name, what), own in growth.groupby(["name", "grows"], sort=False):
        last = own.iloc[-1]
        sizes = f"{own['size'].iloc[0]:,} to {last['size']:,}"
        exponent = f"{last['exponent']:.2f} ± {last['error']:.2f}"
        lines.append(f"| {name} | {what} | {sizes} | {exponent} | {last['seconds']:.3g} | {last['limit']:.3g} |")
    return ["\n".join(lines)]


def tabulate_first_calls(calls: pd.DataFrame) -> list[str]:
    """Return a table of how long whole processes take, beside one that imports pandas."""
    lines = ["| process | seconds | times `import pandas` |", "| :-- | --: | --: |"]
    lines += [f"| {row.name} | {row.seconds:.2f} | {row.ratio:.2f} |" for row in calls.itertuples(index=False)]
    return ["\n".join(lines)]


def tabulate_peers(peers: pd.DataFrame) -> list[str]:
    """Return a table of how long peers take, with their versions, and the smallest and largest time."""
    lines = ["| what | by | version | seconds (smallest to largest) | times ours |", "| :-- | :-- | :-- | :-- | --: |"]
    for row in peers.itertuples(index=False):
        ratio = "" if pd.isna(row.ratio) else f"{row.ratio:.0f}"
        seconds = f"{row.seconds:.3g} ({row.smallest:.3g} to {row.largest:.3g})"
        lines.append(f"| {row.name} | {row.peer} | {row.version} | {seconds} | {ratio} |")
    return ["\n".join(lines)]


def model_cluster(seconds: pd.Series) -> list[str]:
    """Say how efficient one and two Dask workers are, and what the model on the page says of a hundred.

    Of n tasks on w workers, the driver is busy for n o, and the busiest worker for ceil(n / w) (t + o); the efficiency is
    n t over w times the larger of both.

    Parameters
    ----------
    seconds : Series
        benchmarks/measured/cluster.csv, by name.

    Returns
    -------
    list of str

    Examples
    --------
    >>> names = ["10 tasks, one thread", "10 tasks, 1 Dask worker", "10 tasks, 2 Dask workers",
    ...          "100 empty tasks, 2 Dask workers"]
    >>> for line in model_cluster(pd.Series([10.0, 12.5, 6.25, 1.0], index=names))[2:4]:
    ...     print(line)
    a task takes t = 1,000 ms, and one without work o = 10.0 ms
    model, 100 workers, 100 tasks of this size: efficiency 99 %
    """
    by_name = {str(name): float(one) for name, one in seconds.items()}
    n_tasks = next(int(name.split()[0]) for name in by_name if name.endswith("one thread"))
    n_empty = next(int(name.split()[0]) for name in by_name if "empty" in name)
    alone = by_name[f"{n_tasks} tasks, one thread"]
    said = []
    for name in [name for name in by_name if "Dask" in name and "empty" not in name]:
        workers = name.partition(", ")[2]
        share = alone / (by_name[name] * int(workers.split()[0]))
        said.append(f"{workers}, {n_tasks} tasks: each as fast as {100 * share:.0f} % of one thread")
    # With the most workers that were measured, since these share the driver.
    task, overhead = alone / n_tasks, [one for name, one in by_name.items() if "empty" in name][-1] / n_empty
    said.append(f"a task takes t = {1000 * task:,.0f} ms, and one without work o = {1000 * overhead:.1f} ms")
    workers = 100
    for each in (1, 10):
        n = workers * each
        share = n * task / (workers * max(n * overhead, each * (task + overhead)))
        said.append(f"model, {workers} workers, {n:,} tasks of this size: efficiency {100 * share:.0f} %")
    said.append(f"model: {workers} workers are kept busy by tasks of at least {workers * overhead:.2g} s")
    return said
