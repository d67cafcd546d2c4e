"""Where documents come from: folders on disk."""
