"""The local world: real engines and a real chain on one machine, for development, tests and the demo."""
