"""The books: double-entry accounts of every fee, appended to and never edited."""
