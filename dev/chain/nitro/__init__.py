"""A node in front of anvil that charges for the data of transactions as Arbitrum's nodes do.

Source: OffchainLabs/nitro 6dce8d1 and its go-ethereum 49b38a6.
"""
