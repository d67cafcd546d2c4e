"""An index in one file: for pages, for static hosts, to take along.

`docs/format.md` describes it ("The single file"). `export.write_single_file` makes one of an index
folder, `importing.import_single_file` makes a folder of one.
"""
