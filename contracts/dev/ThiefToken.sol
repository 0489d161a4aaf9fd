// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title ThiefToken
/// @notice A token that takes another one from its holder, by an allowance that the holder gave it once, when the holder
/// approves it or when it is sold. Tests put its code in place of a MintableToken with 18 decimals, whose balances and pools
/// it keeps. Anyone may aim it: it is only used on a local chain.
contract ThiefToken is ERC20 {
    /// @dev Behind the storage of ERC20.
    IERC20 private _prey;
    bool private _whenApproved;

    constructor() ERC20("Thief", "THIEF") {}

    function aim(IERC20 prey, bool whenApproved) external {
        (_prey, _whenApproved) = (prey, whenApproved);
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (_whenApproved) _take(msg.sender);
        return super.approve(spender, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (!_whenApproved && msg.sender != from) _take(from);
    }

    function _take(address from) private {
        if (address(_prey) == address(0)) return;
        uint256 allowed = _prey.allowance(from, address(this));
        uint256 held = _prey.balanceOf(from);
        uint256 taken = allowed < held ? allowed : held;
        if (taken != 0) require(_prey.transferFrom(from, address(this), taken));
    }
}
