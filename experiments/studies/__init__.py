"""Questions that the papers leave open: each a file of steps, a file of settings, and the template of a page."""
