"""An exported file on any host that gives byte ranges, searched where it is."""
