"""Benchmarks of the browser's package: a page driven by Playwright, with its rivals in it."""
