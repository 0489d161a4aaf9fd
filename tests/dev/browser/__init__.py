"""Pages do in a browser what they promise."""
