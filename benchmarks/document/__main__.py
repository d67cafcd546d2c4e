"""`python -m benchmarks.document`: write the documents anew from the results that are there."""

from benchmarks.document import write_all

for path in write_all():
    print(path)
