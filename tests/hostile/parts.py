"""The parts of the campaign by name, ``kind/part``, and how large a share of the inputs each has."""

from __future__ import annotations

from tests.hostile import api, commands, files, judging_files, metamorphic, plugins, run_files, store

PARTS = {
    "files/tidy": files.read_tidy,
    "files/parquet": files.read_parquet,
    "files/wide": files.read_wide,
    "files/sakai": files.read_sakai,
    "files/trec_eval": files.read_trec_eval,
    "files/wmt": judging_files.read_wmt,
    "files/leaderboard": judging_files.read_leaderboard,
    "files/annotations": judging_files.read_annotations,
    "files/semeval-c": run_files.read_semeval_c,
    "files/semeval-e": run_files.read_semeval_e,
    "files/dialogue-quality": run_files.read_dialogues,
    "files/judgements": run_files.read_judgements,
    "files/labels": run_files.read_labels,
    "files/probabilities": run_files.read_probabilities,
    "files/polarity": run_files.read_polarity,
    "api/frames": api.make_from_frame,
    "api/scores": api.make_scores,
    "api/analyses": api.analyse,
    "api/options": api.vary_options,
    "cli/options": commands.vary_options,
    "cli/names": commands.vary_names,
    "cli/figures": commands.draw_names,
    "cli/paths": commands.open_odd_paths,
    "cli/interrupt": commands.interrupt_out,
    "store/flips": store.flip_bits,
    "store/kills": store.kill_writer,
    "store/damage": store.damage,
    "plugins/function": plugins.score_in_process,
    "plugins/command": plugins.score_by_command,
    "metamorphic/scale": metamorphic.scale,
    "metamorphic/shuffle": metamorphic.shuffle,
    "metamorphic/subset": metamorphic.subset,
    "metamorphic/directions": metamorphic.turn,
    "metamorphic/threads": metamorphic.spread,
    "metamorphic/batch": metamorphic.batch,
    "metamorphic/formats": metamorphic.convert,
}

WEIGHTS = {
    "files": 10.0,
    "api": 10.0,
    "metamorphic": 4.0,
    "store/damage": 5.0,
    "store/kills": 2.2,
    "store/flips": 1.0,
    "plugins/function": 4.0,
    "plugins/command": 0.8,
    "cli": 1.5,
    "cli/figures": 0.5,
    "cli/interrupt": 0.5,
}
"""How many inputs a part of a kind has for one of a part of weight 1; what takes long has few."""


WHOLE = 10_000
"""From so many inputs on, every bit of a small store is flipped once."""


def choose_parts(wanted):
    """The parts whose kind, or whose whole name, is wanted."""
    chosen = {name: one for name, one in PARTS.items() if {name, name.partition("/")[0]} & set(wanted)}
    unknown = [one for one in wanted if one not in PARTS and one not in {name.partition("/")[0] for name in PARTS}]
    if unknown or not chosen:
        raise SystemExit(f"there is no part {', '.join(unknown) or 'named'}: choose among {', '.join(PARTS)}")
    return chosen


def share_inputs(parts, inputs):
    """How many inputs each part has; every part has at least one."""
    weight = {name: WEIGHTS.get(name, WEIGHTS.get(name.partition("/")[0], 1.0)) for name in parts}
    total = sum(weight.values())
    shares = {name: max(1, round(inputs * weight[name] / total)) for name in parts}
    if inputs >= WHOLE and "store/flips" in shares:
        shares["store/flips"] = store.flips_needed()
    return shares
