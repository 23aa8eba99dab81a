"""One file per cause of distrust; each function looks at one cell and returns a Verdict or None."""
