"""What wallets, miners and strangers do to sweeps on a real chain, from the build to the books."""
