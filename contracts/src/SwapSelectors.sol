// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title SwapSelectors
/// @notice The functions that may be allow-listed: exact-input swaps only. The account that lists routers may be
/// mistaken or compromised; because of this fixed set, it can't list a multicall, sweep, unwrap, refund, pull, permit,
/// approval, transfer, position call or the Universal Router's commands. A new kind of router requires a new contract.
library SwapSelectors {
    // Uniswap's SwapRouter02, without a deadline
    bytes4 private constant EXACT_INPUT_SINGLE =
        bytes4(keccak256("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"));
    bytes4 private constant EXACT_INPUT = bytes4(keccak256("exactInput((bytes,address,uint256,uint256))"));
    bytes4 private constant V2_EXACT_TOKENS =
        bytes4(keccak256("swapExactTokensForTokens(uint256,uint256,address[],address)"));

    // Uniswap V3's SwapRouter and its forks, with a deadline
    bytes4 private constant EXACT_INPUT_SINGLE_DEADLINE =
        bytes4(keccak256("exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"));
    bytes4 private constant EXACT_INPUT_DEADLINE =
        bytes4(keccak256("exactInput((bytes,address,uint256,uint256,uint256))"));

    // Uniswap V2's Router02 and its forks, with a deadline
    bytes4 private constant V2_EXACT_TOKENS_DEADLINE =
        bytes4(keccak256("swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"));
    bytes4 private constant V2_EXACT_FEE_ON_TRANSFER_TOKENS_DEADLINE = bytes4(
        keccak256("swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)")
    );

    /// @notice Returns whether the function with this selector is an exact-input swap.
    function isExactInputSwap(bytes4 selector) internal pure returns (bool) {
        return selector == EXACT_INPUT_SINGLE || selector == EXACT_INPUT || selector == V2_EXACT_TOKENS
            || selector == EXACT_INPUT_SINGLE_DEADLINE || selector == EXACT_INPUT_DEADLINE
            || selector == V2_EXACT_TOKENS_DEADLINE || selector == V2_EXACT_FEE_ON_TRANSFER_TOKENS_DEADLINE;
    }
}
