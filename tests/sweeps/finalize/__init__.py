"""Finalizing sweeps: POST /v2/sweep/status/:id/finalize."""
