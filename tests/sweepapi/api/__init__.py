"""Tests of the API's manners."""
