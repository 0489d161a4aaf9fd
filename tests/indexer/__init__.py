"""Tests of the worker: who looks at a sweep when, and what comes of it."""
