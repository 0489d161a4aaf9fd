"""Processes of the local world: started, supervised, awaited, and never left behind."""
