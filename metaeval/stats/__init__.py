"""The statistics of the analyses, on arrays without names of runs, topics or measures."""
