"""Hostile inputs against every part of metaeval: each is read right, or refused in one sentence, or a finding.

HOSTILE_INPUTS=100 tries a hundred times as many; HOSTILE_SEED=3 tries others; HOSTILE_CASE=7 tries one of them again.
What is right comes from `truth`, which imports nothing of metaeval.
"""
