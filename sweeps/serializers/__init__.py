"""The shapes of the sweep endpoints, in the names that partners see."""
