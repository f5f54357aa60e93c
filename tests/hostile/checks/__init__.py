"""The smallest check of every known defect, a module a subject; each has a dictionary `CHECKS`."""
