"""Why transactions reverted."""
