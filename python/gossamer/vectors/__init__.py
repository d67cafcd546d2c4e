"""The engine: an index over vectors, whatever they stand for."""
