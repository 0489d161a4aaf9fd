"""What breaks under chaos: the faults of a seed, what each does to the world, and the providers that lie."""
