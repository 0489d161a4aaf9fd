"""Failures as answers: every exception becomes one row of the error table, in the envelope.

Enters: exceptions of Django, DRF and ours. Leaves: responses with a stable code.
"""
