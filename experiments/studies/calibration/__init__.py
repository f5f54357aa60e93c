"""How often do tests of all pairs of runs, and intervals, err, and how reliable are rankings of measures?"""
