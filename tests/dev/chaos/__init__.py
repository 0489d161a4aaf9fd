"""Tests of the chaos suite itself: its checker, its faults, and a short run."""
