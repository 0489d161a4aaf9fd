"""The mutated files, and for each the deployed contracts that include it."""

V5 = "src/ServiceBatchV5PartnerFees.sol"
V4 = "src/ServiceBatchV4.sol"
PROBE = "src/simulation/TransferProbe.sol"
TARGETS = (V5, V4, PROBE)
MUTATED = {
    "src/RouterAllowList.sol": (V5, V4),
    "src/SwapSelectors.sol": (V5, V4),
    "src/SweepBatch.sol": (V5, V4),
    V5: (V5,),
    V4: (V4,),
    PROBE: (PROBE,),
}
