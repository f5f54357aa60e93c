"""Where random numbers come from."""

from __future__ import annotations

import numpy as np

from metaeval.stats.streams import generator, mix, stream_key, words


def test_a_key_depends_on_the_seed_and_on_every_name():
    keys = [
        stream_key(1),
        stream_key(2),
        stream_key(1, "a"),
        stream_key(1, "b"),
        stream_key(1, "a", "b"),
        stream_key(1, "b", "a"),
        stream_key(1, "ab"),
        stream_key(1, "", "ab"),
    ]
    assert len(set(keys)) == len(keys)
    assert all(0 <= key < 2**64 for key in keys)
    assert stream_key(np.int64(1), "a") == stream_key(1, "a")


def test_generators_of_two_analyses_and_of_two_seeds_are_unrelated():
    of = [(3, "power"), (3, "power"), (3, "consistency"), (4, "power")]
    same, again, *others = (generator(*each).random(1000) for each in of)
    assert (same == again).all()
    assert all(abs(np.corrcoef(same, other)[0, 1]) < 0.15 for other in others)


def test_mixing_is_splitmix64():
    # The first outputs of SplitMix64 from seed 1234567, as published with the reference implementation.
    expected = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert words(np.array([1234567], dtype=np.uint64), np.arange(4)).tolist() == expected


def test_mixing_long_arrays_is_mixing_each_word():
    many = np.arange(50_000, dtype=np.uint64)
    one_by_one = [mix(many[place : place + 1].copy())[0] for place in range(0, 50_000, 7001)]
    assert (mix(many.copy())[::7001] == one_by_one).all()
