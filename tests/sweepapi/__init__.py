"""Tests of what every app shares."""
