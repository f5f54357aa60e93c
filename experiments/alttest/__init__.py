"""Judges against people: the alternative annotator test and measures on five sets of labels."""
