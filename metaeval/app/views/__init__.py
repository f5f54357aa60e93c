"""One file a page; each has a function `show` that draws it from top to bottom."""
