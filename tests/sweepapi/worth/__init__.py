"""Tests of the figures that all rails share."""
