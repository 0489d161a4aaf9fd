"""The JSON-RPC methods of the local cluster, by name."""

from collections.abc import Callable
from typing import Any

from dev.solana.methods import accounts, chain, controls, history, sending
from dev.solana.node import Node
from dev.solana.params import Params

METHODS: dict[str, Callable[[Node, Params], Any]] = {
    "getAccountInfo": accounts.get_account_info,
    "getBlock": chain.get_block,
    "getEpochInfo": chain.get_epoch_info,
    "getFirstAvailableBlock": chain.get_first_available_block,
    "getGenesisHash": chain.get_genesis_hash,
    "getLatestBlockhash": chain.get_latest_blockhash,
    "getMinimumBalanceForRentExemption": chain.get_minimum_balance_for_rent_exemption,
    "getMultipleAccounts": accounts.get_multiple_accounts,
    "getRecentPerformanceSamples": chain.get_recent_performance_samples,
    "getRecentPrioritizationFees": chain.get_recent_prioritization_fees,
    "getSignatureStatuses": history.get_signature_statuses,
    "getSignaturesForAddress": history.get_signatures_for_address,
    "getSlot": chain.get_slot,
    "getTokenAccountsByOwner": accounts.get_token_accounts_by_owner,
    "getTransaction": history.get_transaction,
    "sendTransaction": sending.send_transaction,
    "simulateTransaction": sending.simulate_transaction,
    "dev_dropTransaction": controls.drop_transaction,
    "dev_expireBlockhashes": controls.expire_blockhashes,
}
