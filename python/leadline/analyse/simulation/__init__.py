"""What `leadline-engine` is to simulate, and what it found; nothing here starts it."""
