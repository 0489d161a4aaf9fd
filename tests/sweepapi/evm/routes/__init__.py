"""Tests of finding, quoting and planning the swaps of a sweep."""
