// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {MintableToken} from "./MintableToken.sol";

/// @title SandboxToken
/// @notice A token of the sandbox that always fails in the same way, so that a partner can try that way. Anyone may mint, and no one
/// can change how it behaves, since all partners share it.
contract SandboxToken is MintableToken {
    enum Failure {
        None,
        Sale, // nothing with code may receive it: a honeypot
        Sweep, // it can be sent, but not pulled from the account that pays for the transaction
        Later // as Sweep, from FRESH_SECONDS after it was minted to its holder
    }

    uint256 public constant FRESH_SECONDS = 600;

    Failure public immutable FAILURE;
    mapping(address holder => uint256 timestamp) private _freshUntil;

    error TransferRefused(address from, address to);

    constructor(string memory name_, string memory symbol_, uint8 decimals_, Failure failure_)
        MintableToken(name_, symbol_, decimals_)
    {
        FAILURE = failure_;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (from == address(0)) _freshUntil[to] = block.timestamp + FRESH_SECONDS;
        else if (_refuses(from, to)) revert TransferRefused(from, to);
        super._update(from, to, amount);
    }

    function _refuses(address from, address to) private view returns (bool) {
        if (FAILURE == Failure.Sale) return to.code.length != 0;
        bool isPulled = msg.sender != from && tx.origin == from;
        if (FAILURE == Failure.Sweep) return isPulled;
        return FAILURE == Failure.Later && isPulled && block.timestamp >= _freshUntil[from];
    }
}
