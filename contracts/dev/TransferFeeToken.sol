// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MintableToken} from "./MintableToken.sol";

/// @title TransferFeeToken
/// @notice A token that burns 1 % of every transfer, so that what arrives is less than what was sent: the kind that a sweep
/// must refuse to quote and must survive when it meets one.
contract TransferFeeToken is MintableToken {
    uint256 public constant TRANSFER_FEE_BPS = 100;

    constructor(string memory name_, string memory symbol_, uint8 decimals_) MintableToken(name_, symbol_, decimals_) {}

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        bool minting = from == address(0);
        bool burning = to == address(0);
        if (!minting && !burning) super._update(to, address(0), amount * TRANSFER_FEE_BPS / 10_000);
    }
}
