// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title TransferProbe
/// @notice Measures whether a token takes a transfer fee. It is never deployed: an `eth_call` with a state override
/// puts this code at the address of a holder (a pool) and at a second address, its peer, and calls the holder. Nothing
/// outlives that call.
contract TransferProbe {
    using SafeERC20 for IERC20;

    /// @notice Transfers tokens of this address to `peer` and back, and measures the balance changes.
    /// @dev Reverts with the token's own error, or if the token returns false. A token that returns nothing is
    /// accepted.
    /// @param token The token to probe.
    /// @param maxAmount The amount to send, in the token's smallest unit; less if the balance is lower.
    /// @param peer An address with this same code for the duration of the call.
    /// @return sent The amount sent: min(balance, maxAmount). Zero if this address holds none, which proves nothing.
    /// @return receivedByPeer The increase of the peer's balance.
    /// @return receivedBack The increase of this address's balance when the peer sent `receivedByPeer` back.
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

    /// @notice Sends `amount` of `token` to the caller; called on the peer.
    function sendBack(address token, uint256 amount) external {
        IERC20(token).safeTransfer(msg.sender, amount);
    }

    function _send(address token, address to, uint256 amount) private returns (uint256 received) {
        uint256 before = IERC20(token).balanceOf(to);
        IERC20(token).safeTransfer(to, amount);
        received = IERC20(token).balanceOf(to) - before;
    }
}
