"""The examples for partners, run as they are shipped."""
