// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title TransferProbe
/// @notice Measures whether a token takes a transfer fee. It is never deployed: an `eth_call` with a state override lets
/// a holder (a pool) and a second address, its peer, delegate to this code, and calls the holder. Nothing outlives that
/// call.
contract TransferProbe {
    using SafeERC20 for IERC20;

    /// @notice Transfers tokens of this address to `peer` and back, and measures the balance changes: first of an
    /// amount, then of a third and of a hundredth of it.
    /// @dev A tax may depend on the amount, and tokens that count in shares round only some of them; a third is hardly
    /// ever a round number. Reverts with the token's own error, or if the token returns false, unless that concerns only
    /// the parts, since they are not what will be transferred. A token that returns nothing is accepted.
    /// @param token The token to probe.
    /// @param maxAmount The amount to send, in the token's smallest unit; less if the balance is lower.
    /// @param peer An address that delegates to this same code for the duration of the call.
    /// @return sent The amount sent: min(balance, maxAmount). Zero if this address holds none, which proves nothing.
    /// @return receivedByPeer The increase of the peer's balance.
    /// @return receivedBack The increase of this address's balance when the peer sent `receivedByPeer` back.
    /// @return partsArrive Whether the parts were received in full both ways, as far as the token transferred them.
    function probe(address token, uint256 maxAmount, address peer)
        external
        returns (uint256 sent, uint256 receivedByPeer, uint256 receivedBack, bool partsArrive)
    {
        uint256 held = IERC20(token).balanceOf(address(this));
        sent = held < maxAmount ? held : maxAmount;
        (receivedByPeer, receivedBack) = sendBothWays(token, sent, peer);
        partsArrive = _arrives(token, sent / 3, peer) && _arrives(token, sent / 100, peer);
    }

    /// @notice Sends `amount` of `token` to `peer` and back; called by this address itself where a failure is to be caught.
    function sendBothWays(address token, uint256 amount, address peer)
        public
        returns (uint256 receivedByPeer, uint256 receivedBack)
    {
        uint256 before = IERC20(token).balanceOf(peer);
        IERC20(token).safeTransfer(peer, amount);
        receivedByPeer = IERC20(token).balanceOf(peer) - before;

        uint256 beforeReturn = IERC20(token).balanceOf(address(this));
        TransferProbe(peer).sendBack(token, receivedByPeer);
        receivedBack = IERC20(token).balanceOf(address(this)) - beforeReturn;
    }

    /// @notice Sends `amount` of `token` to the caller; called on the peer.
    function sendBack(address token, uint256 amount) external {
        IERC20(token).safeTransfer(msg.sender, amount);
    }

    function _arrives(address token, uint256 amount, address peer) private returns (bool) {
        // slither-disable-next-line incorrect-equality - a part that rounds to nothing is not sent
        if (amount == 0) return true;
        try this.sendBothWays(token, amount, peer) returns (uint256 receivedByPeer, uint256 receivedBack) {
            // slither-disable-next-line incorrect-equality - just this is measured, and no funds depend on it
            return receivedByPeer == amount && receivedBack == amount;
        } catch {
            return true;
        }
    }
}
