"""A local Solana cluster: JSON-RPC over LiteSVM, which runs the real token programs but keeps no history."""
