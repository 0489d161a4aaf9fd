"""The JSON-RPC methods of the local cluster, by name."""

from collections.abc import Callable
from typing import Any

from dev.solana.methods import accounts, chain, controls, history, sending
from dev.solana.node import Node
from dev.solana.params import Params

METHODS: dict[str, Callable[[Node, Params], Any]] = {
    "getAccountInfo": accounts.get_account_info,
    "getBalance": accounts.get_balance,
    "getBlock": chain.get_block,
    "getBlockHeight": chain.get_block_height,
    "getEpochInfo": chain.get_epoch_info,
    "getFirstAvailableBlock": chain.get_first_available_block,
    "getGenesisHash": chain.get_genesis_hash,
    "getHealth": chain.get_health,
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
    "getVersion": chain.get_version,
    "isBlockhashValid": chain.is_blockhash_valid,
    "requestAirdrop": sending.request_airdrop,
    "sendTransaction": sending.send_transaction,
    "simulateTransaction": sending.simulate_transaction,
    "dev_advance": controls.advance,
    "dev_dropTransaction": controls.drop_transaction,
    "dev_expireBlockhashes": controls.expire_blockhashes,
    "dev_finalize": controls.finalize,
    "dev_setAccount": controls.set_account,
    "dev_setGenesisHash": controls.set_genesis_hash,
    "dev_setHistory": controls.set_history,
    "dev_setLag": controls.set_lag,
    "dev_setPriorityFee": controls.set_priority_fee,
}
