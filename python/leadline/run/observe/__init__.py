"""What the machine is (recorded once a run) and what it did meanwhile (sampled beside every step).

Nothing here knows an engine's output or a target: the conductor asks, and writes the answers into the store.
"""
