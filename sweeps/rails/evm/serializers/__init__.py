"""The shapes in which sweeps on EVM chains are answered."""
