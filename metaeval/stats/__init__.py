"""The statistics of the analyses: plain functions of arrays without names of runs, topics or measures, module by module."""
