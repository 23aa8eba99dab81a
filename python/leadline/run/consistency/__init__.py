"""Whether one client sees what another did: the visibility grid, ordered by a baton."""
