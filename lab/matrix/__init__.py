"""A matrix: what providers may say of a mined transaction, who says it, and the paths by which the service reads."""
