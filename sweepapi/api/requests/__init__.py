"""What surrounds every request: its id, its body to the end, its format, its log line, who may send it.

Enters: a request. Leaves: the same request, checked, and the rendered answer.
"""
