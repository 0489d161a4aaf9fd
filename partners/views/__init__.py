"""The endpoints about partners, and what endpoints of other apps share about them."""
