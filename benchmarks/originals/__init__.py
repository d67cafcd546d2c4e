"""The public originals of the text sets, turned into the layout of benchmarks/README.md.

    python -m benchmarks.originals scifact locomo --to FOLDER

One file for each set: SOURCES (what is downloaded), and `convert`, which turns what is in the
original into documents, questions and judgements and touches neither network nor disk.
"""
