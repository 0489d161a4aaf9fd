// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title Balances
/// @notice Reads balances of tokens. In assembly, because the compiler's encoding of the same calls costs a sweep more
/// than calling.
library Balances {
    /// @dev As `token.balanceOf(account)`. Reverts with the token's reason, or without one if it returns too little.
    function heldBy(IERC20 token, address account) internal view returns (uint256 held) {
        bytes4 selector = IERC20.balanceOf.selector;
        assembly ("memory-safe") {
            mstore(0, selector)
            mstore(4, account)
            if iszero(staticcall(gas(), token, 0, 0x24, 0, 0x20)) {
                let free := mload(0x40)
                returndatacopy(free, 0, returndatasize())
                revert(free, returndatasize())
            }
            if lt(returndatasize(), 0x20) { revert(0, 0) }
            held := mload(0)
        }
    }
}
