"""Text as bytes: encodings, tokens, compression."""
