"""Tests of the providers of any network; most ask nodes of the local EVM chain."""
