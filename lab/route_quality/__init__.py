"""Measures how close the routes of a basket come to the best there are, in random markets of exact pools."""
