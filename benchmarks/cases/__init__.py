"""One file for each group of rows in the table. A case has a TITLE and a `run()`."""
