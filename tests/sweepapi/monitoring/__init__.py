"""Tests of what can be seen of the processes from outside."""
