"""Tests of ``lab``."""
