// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MintableToken} from "./MintableToken.sol";

/// @title EndlessAllowanceToken
/// @notice A standard ERC-20 that gives Permit2 an endless allowance by itself, as Solady's does; anyone may mint.
contract EndlessAllowanceToken is MintableToken {
    address private constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) MintableToken(name_, symbol_, decimals_) {}

    function allowance(address owner, address spender) public view override returns (uint256) {
        return spender == PERMIT2 ? type(uint256).max : super.allowance(owner, spender);
    }
}
