"""Answering a question: rankings by meaning and by words, made into one, read and cited."""
