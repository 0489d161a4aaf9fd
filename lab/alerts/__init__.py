"""Breaks each engine and process, and makes each kind of trouble: exactly one alert comes of each, and it ends."""
