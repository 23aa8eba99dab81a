"""What a cluster should reach, from the baselines of its parts alone: pure functions, tables in, predictions out."""
