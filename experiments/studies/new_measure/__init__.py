"""RNADW and RNOD with gold distances beside the six measures of LQ 2021."""
