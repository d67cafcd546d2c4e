"""What Gossamer costs and gives, next to its rivals in the same run."""
