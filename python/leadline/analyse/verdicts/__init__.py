"""One file per cause of distrust; each function looks at one cell and returns a Verdict with its figures,
or None.
"""
