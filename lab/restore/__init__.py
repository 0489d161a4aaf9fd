"""The restore rehearsal: a database that lost its last commits, and what operators do until the books are whole."""
