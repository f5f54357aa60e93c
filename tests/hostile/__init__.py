"""Hostile inputs against every part of metaeval: each is read right, or refused in one sentence, or a finding.

HOSTILE_SEED=3 HOSTILE_INPUTS=100 tries others, and a hundred times as many; HOSTILE_CASE=7 tries one of them again.
"""
