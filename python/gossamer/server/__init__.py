"""The HTTP server of an index; needs the extra `server`."""
