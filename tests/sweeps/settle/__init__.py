"""Tests of settling: every change that the chain causes in a sweep. The readings are made up; the database is real."""
