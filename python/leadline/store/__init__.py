"""One run, one folder: what was asked, what was done, what came out, kept so that it can be analysed again years later."""
