"""Tests that stop the engines under the service: what is answered meanwhile, and what goes on afterwards."""
