"""What runs on a machine with a GPU: a model there, and a million chunks that it embeds."""
