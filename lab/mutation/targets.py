"""The mutated files, and for each the contracts that include it."""

from pathlib import Path

V5 = "src/ServiceBatchV5PartnerFees.sol"
V4 = "src/ServiceBatchV4.sol"
PROBE, WALLET = "src/simulation/TransferProbe.sol", "src/simulation/SimulationWallet.sol"
TARGETS = (V5, V4, PROBE, WALLET)
_SHARED = (Path(__file__).parents[2] / "contracts" / "src").glob("*.sol")
MUTATED = {f"src/{source.name}": (V5, V4) for source in _SHARED} | {V5: (V5,), V4: (V4,)}
MUTATED |= {PROBE: (PROBE,), WALLET: (WALLET,)}
