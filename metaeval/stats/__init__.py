"""Arrays in, arrays out: the statistics of the analyses, with no names of runs, topics or measures.

Everything here is a plain function; import it from its module. Nothing heavy is loaded before it is needed.
"""
