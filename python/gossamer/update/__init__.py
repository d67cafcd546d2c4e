"""Bringing an index up to date: what changed is read, cut into chunks, embedded and committed."""
