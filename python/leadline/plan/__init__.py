"""From what is asked to what is done: ordered steps, with their time and bytes known before anything starts."""
