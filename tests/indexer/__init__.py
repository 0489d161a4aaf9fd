"""Tests of the worker, which claims due sweeps and checks them."""
