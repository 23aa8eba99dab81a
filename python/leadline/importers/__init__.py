"""Results of other programs -> step records, so that they get the same analysis, verdicts and report."""

from leadline.importers.collect import import_paths

__all__ = ["import_paths"]
