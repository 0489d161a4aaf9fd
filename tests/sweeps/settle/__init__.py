"""Tests of settling: every change of a sweep that the chain causes. The looks are made up; the database is real."""
