"""Predictions: queues whose solution is known, clusters made by hand, and the published grids where they lie beside."""
