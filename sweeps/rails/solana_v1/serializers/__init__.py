"""The shapes in which sweeps on Solana are answered."""
