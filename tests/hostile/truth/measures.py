"""Measures of quantification and classification as loops over plain lists."""


def nmd(estimated, gold):
    """Normalised match distance."""
    total, gap = 0.0, 0.0
    for e, g in zip(estimated, gold, strict=True):
        gap += e - g
        total += abs(gap)
    return total / (len(gold) - 1)


def largest_gap(estimated, gold):
    """Largest difference between two shares."""
    return max(abs(e - g) for e, g in zip(estimated, gold, strict=True))


def accuracy(counts):
    """Share of items on the diagonal."""
    return sum(row[k] for k, row in enumerate(counts)) / sum(map(sum, counts))
