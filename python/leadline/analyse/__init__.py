"""Pure: stored records in, results out. Nothing here reads a file, starts anything or draws."""
