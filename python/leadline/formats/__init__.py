"""What other programs write, read into leadline's own words: pure parsers, text in and values out."""
