"""The measures that LQ 2021 leaves to future work: RNADW, RNOD with gold distances, and both at once."""
