"""How often do the tests of all pairs of runs err, and what do they find, where the truth is known?"""
