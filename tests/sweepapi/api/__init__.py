"""Tests of the conventions that all endpoints share."""
