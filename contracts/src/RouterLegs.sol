// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Balances} from "./Balances.sol";
import {ISweepBatch} from "./interfaces/ISweepBatch.sol";
import {Reverts} from "./Reverts.sol";
import {RouterAllowList} from "./RouterAllowList.sol";

/// @title RouterLegs
/// @notice Swaps the legs that pools can't carry, through listed functions of listed routers, after the pool legs. A
/// swept token can run code before and between these swaps, so each can be pushed to its least output.
abstract contract RouterLegs is ISweepBatch, RouterAllowList {
    using Balances for IERC20;
    using SafeERC20 for IERC20;

    /// @dev Reverts unless a router call is listed, and its router not a token of the sweep. If a token were also a
    /// listed router, calling it could transfer or approve this contract's balance of it.
    function _checkRouterCall(Route calldata route, uint256 callIndex, address settlementToken) internal view {
        RouterCall calldata routerCall = route.routerCalls[callIndex];
        (uint256 leg, address router, bytes calldata data) = (routerCall.leg, routerCall.router, routerCall.data);
        if (data.length < 4) revert SelectorMissing(leg, data.length);
        if (_spenderOf(router, bytes4(data)) == address(0)) revert RouterNotAllowed(leg, router, bytes4(data));
        if (router.code.length == 0) revert RouterWithoutCode(leg, router);
        if (router == settlementToken) revert RouterIsToken(leg, router);
        for (uint256 i = 0; i < route.legs.length; ++i) {
            if (route.legs[i].token == router) revert RouterIsToken(leg, router);
        }
    }

    /// @dev Approves the amount received, which is less than the leg's amount if the token takes a transfer fee.
    function _callRouter(Leg calldata leg, RouterCall calldata routerCall, uint256 heldBefore) internal {
        IERC20 token = IERC20(leg.token);
        address router = routerCall.router;
        bytes calldata data = routerCall.data;
        address spender = _spenderOf(router, bytes4(data));
        token.forceApprove(spender, token.heldBy(address(this)) - heldBefore);
        bool success;
        // In assembly, because a Solidity call copies the return data, which is not trusted. The calldata is placed in
        // free memory without allocating it.
        assembly ("memory-safe") {
            let free := mload(0x40)
            calldatacopy(free, data.offset, data.length)
            success := call(gas(), router, 0, free, data.length, 0, 0)
        }
        if (!success) revert LegFailed(routerCall.leg, router, Reverts.returned());
        token.forceApprove(spender, 0);
    }

    /// @dev Called after the last leg, so that tokens that a later leg gives back are returned, too. A rebasing token
    /// may round to slightly less than the balance before; then there is nothing to return.
    function _returnUnspent(Route calldata route, uint256[] memory heldBefore) internal {
        for (uint256 i = 0; i < heldBefore.length; ++i) {
            IERC20 token = IERC20(route.legs[route.routerCalls[i].leg].token);
            uint256 held = token.heldBy(address(this));
            if (held > heldBefore[i]) token.safeTransfer(msg.sender, held - heldBefore[i]);
        }
    }
}
