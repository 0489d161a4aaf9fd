"""Tests of what a process refuses to start with."""
