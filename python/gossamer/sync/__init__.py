"""Server and edge: an index that follows another by small packages."""
