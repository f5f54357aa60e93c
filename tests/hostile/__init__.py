"""Hostile inputs against every part of metaeval: each is read right, or refused in one sentence, or a finding.

Some are tried in every session, the others at night (`pytest -m nightly`). Every commit tries others; HOSTILE_SEED=3 tries
those of a seed, which a finding and the head of a session name. HOSTILE_INPUTS=100 tries a hundred times as many;
HOSTILE_CASE=7 tries one of them again. What is right comes from `truth`, which imports nothing of metaeval.
"""
