"""Measures of quantification and classification as loops over plain lists."""


def nmd(estimated, gold):
    """Normalised match distance."""
    total, gap = 0.0, 0.0
    for e, g in zip(estimated, gold, strict=True):
        gap += e - g
        total += abs(gap)
    return total / (len(gold) - 1)
