"""A campaign of hostile inputs against every part of metaeval.

    python -m tests.hostile --inputs 10000 --seed 1      the whole, with counts at the end
    python -m tests.hostile --kinds files,store/kills    some kinds, or parts of them
    python -m tests.hostile --seed 1 --case files/tidy:7 one case again; its files are kept
    python -m tests.hostile --defects                    the smallest check of every known defect

A part is a function of a `Case` in `parts.PARTS`: it returns an `Outcome`, or raises a `Finding`. What is right comes
from `truth`, which imports nothing of metaeval. Every case ends in one of three ways: equal to what is right, refused
in one sentence, or a finding. `share` says what runs with the other tests.
"""
