"""Thin: what the user typed in, a stage called, what came out printed. One file a command."""
