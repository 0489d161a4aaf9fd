"""Tests of the figures on routes."""
