"""The statistics of the analyses, on arrays without names of runs, topics or measures.

All functions are plain functions; import them from their modules. Large libraries are imported only when they are
needed.
"""
