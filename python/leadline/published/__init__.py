"""Figures that published evaluations print, as small cited tables that a report lays beside its own."""
