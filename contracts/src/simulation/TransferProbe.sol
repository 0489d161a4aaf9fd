// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title TransferProbe
/// @notice Tells whether a token keeps a part of what is transferred, before any of a user's tokens move. It is never deployed:
/// an `eth_call` places this code, by state override, at the address of a holder (a pool) and at a second address, its peer, and
/// calls the holder. Nothing it does outlives that call.
contract TransferProbe {
    using SafeERC20 for IERC20;

    /// @notice Sends tokens of this address to `peer` and back, and measures by balances what arrived each way.
    /// @dev Reverts with whatever the token reverts with; a token that returns nothing is fine, one that returns false is not.
    /// @param token The token to try.
    /// @param maxAmount Send this much, in the token's smallest unit, or the whole balance if that is less.
    /// @param peer An address that carries this same code for the length of the call.
    /// @return sent What was sent: min(balance, maxAmount); zero if this address holds nothing, which proves nothing.
    /// @return receivedByPeer What the peer's balance grew by.
    /// @return receivedBack What this address's balance grew by when the peer sent `receivedByPeer` back.
    function probe(address token, uint256 maxAmount, address peer)
        external
        returns (uint256 sent, uint256 receivedByPeer, uint256 receivedBack)
    {
        uint256 held = IERC20(token).balanceOf(address(this));
        sent = held < maxAmount ? held : maxAmount;
        receivedByPeer = _send(token, peer, sent);

        uint256 beforeReturn = IERC20(token).balanceOf(address(this));
        TransferProbe(peer).sendBack(token, receivedByPeer);
        receivedBack = IERC20(token).balanceOf(address(this)) - beforeReturn;
    }

    /// @notice The peer's half: sends `amount` of `token` to the caller.
    function sendBack(address token, uint256 amount) external {
        IERC20(token).safeTransfer(msg.sender, amount);
    }

    function _send(address token, address to, uint256 amount) private returns (uint256 received) {
        uint256 before = IERC20(token).balanceOf(to);
        IERC20(token).safeTransfer(to, amount);
        received = IERC20(token).balanceOf(to) - before;
    }
}
