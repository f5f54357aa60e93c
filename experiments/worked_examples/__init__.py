"""The examples that the papers work out by hand: they need no data."""
