// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title SwapSelectors
/// @notice The functions that a router may be listed with: swaps of an exact input, and nothing else. Whoever lists routers can
/// be mistaken or bribed; with this list a multicall, a sweep, an unwrap, a refund, a pull, a permit, an approval, a transfer, a
/// position call or the Universal Router's commands can't be listed by anybody. A new kind of router takes a new contract.
library SwapSelectors {
    // Uniswap's SwapRouter02
    bytes4 private constant EXACT_INPUT_SINGLE =
        bytes4(keccak256("exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"));
    bytes4 private constant EXACT_INPUT = bytes4(keccak256("exactInput((bytes,address,uint256,uint256))"));
    bytes4 private constant V2_EXACT_TOKENS =
        bytes4(keccak256("swapExactTokensForTokens(uint256,uint256,address[],address)"));

    // the first V3 router and its forks, which take a deadline
    bytes4 private constant EXACT_INPUT_SINGLE_UNTIL =
        bytes4(keccak256("exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))"));
    bytes4 private constant EXACT_INPUT_UNTIL =
        bytes4(keccak256("exactInput((bytes,address,uint256,uint256,uint256))"));

    // V2's Router02 and its forks
    bytes4 private constant V2_EXACT_TOKENS_UNTIL =
        bytes4(keccak256("swapExactTokensForTokens(uint256,uint256,address[],address,uint256)"));
    bytes4 private constant V2_EXACT_TAXED_TOKENS_UNTIL = bytes4(
        keccak256("swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)")
    );

    /// @notice Whether a function of this selector swaps an exact input and does nothing else.
    function isExactInputSwap(bytes4 selector) internal pure returns (bool) {
        return selector == EXACT_INPUT_SINGLE || selector == EXACT_INPUT || selector == V2_EXACT_TOKENS
            || selector == EXACT_INPUT_SINGLE_UNTIL || selector == EXACT_INPUT_UNTIL
            || selector == V2_EXACT_TOKENS_UNTIL || selector == V2_EXACT_TAXED_TOKENS_UNTIL;
    }
}
