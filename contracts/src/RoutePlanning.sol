// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Balances} from "./Balances.sol";
import {Hop} from "./Hop.sol";
import {Itinerary, PlannedLeg} from "./Itinerary.sol";
import {PoolLegs} from "./PoolLegs.sol";
import {RouterLegs} from "./RouterLegs.sol";
import {Swap, SwapWord} from "./Swap.sol";
import {VenueList} from "./VenueList.sol";

/// @title RoutePlanning
/// @notice Checks every leg of a route before anything moves, and writes what the pools will need into the itinerary.
abstract contract RoutePlanning is VenueList, PoolLegs, RouterLegs {
    using Balances for IERC20;

    /// @dev What is known of a sweep while its route is planned, and what running it needs.
    /// @param itinerary The itinerary that is being written.
    /// @param outputToken What the user receives.
    /// @param settlementToken The ERC-20 in which the output is measured.
    /// @param userBps What the user keeps of the output, in basis points.
    /// @param lastHop The pool that swaps what the joined legs bring; zero if there is none.
    /// @param dropped The set of legs that the offer left out.
    /// @param floors The sum of the floors of all other legs.
    /// @param joinedFloors The part of it of joined legs.
    /// @param hasJoined Whether any leg is joined.
    /// @param heldBefore For each router call, this contract's balance of the leg's token.
    /// @param nextCall The router call that the next router leg must have.
    /// @param tokenFilter A Bloom filter with a single hash: a clear bit proves that an address has not occurred.
    /// @param venueId The venue of the last hop that was planned.
    /// @param venue What is stored of it; read once for legs in a row.
    /// @param initCodeHash As `venue`.
    struct Plan {
        Itinerary itinerary;
        address outputToken;
        address settlementToken;
        uint256 userBps;
        Swap lastHop;
        uint256 dropped;
        uint256 floors;
        uint256 joinedFloors;
        bool hasJoined;
        uint256[] heldBefore;
        uint256 nextCall;
        uint256 tokenFilter;
        uint256 venueId;
        Swap venue;
        bytes32 initCodeHash;
    }

    uint256 private constant MOST_MAX_SKIPPED = type(uint8).max;

    /// @dev Checks the route and writes the itinerary. Reports the legs that the offer left out.
    function _planRoute(Plan memory plan, Route calldata route, uint256 sweepId, bytes32 witness) internal {
        if (route.maxSkipped > MOST_MAX_SKIPPED) revert MaxSkippedTooLarge(route.maxSkipped);
        Itinerary itinerary = plan.itinerary;
        itinerary.describe(sweepId, witness, route.maxSkipped);
        uint256 count = itinerary.count();
        if (route.lastHop != 0) _planLastHop(plan, Hop.wrap(route.lastHop), count);
        RouterCall[] calldata routerCalls = route.routerCalls;
        if (routerCalls.length != 0) plan.heldBefore = new uint256[](routerCalls.length);
        Leg[] calldata legs = route.legs;
        for (uint256 i = 0; i < count; ++i) {
            _planLeg(plan, route, legs[i], i);
        }
        if (plan.nextCall != routerCalls.length) revert RouterCallNotExpected(routerCalls[plan.nextCall].leg);
        if (route.lastHop != 0 && !plan.hasJoined) revert LastHopWithoutJoinedLeg(route.lastHop);
    }

    function _planLastHop(Plan memory plan, Hop hop, uint256 count) private {
        if (!hop.isOnlyPool() || plan.settlementToken == WRAPPED_NATIVE) revert InvalidHop(count, Hop.unwrap(hop));
        Swap lastHop = _poolSwap(plan, count, hop, WRAPPED_NATIVE, plan.settlementToken);
        plan.lastHop = lastHop;
        plan.itinerary.setLastHop();
        (_lastHop, _wrappedBefore) = (lastHop, IERC20(WRAPPED_NATIVE).heldBy(address(this)));
    }

    function _planLeg(Plan memory plan, Route calldata route, Leg calldata leg, uint256 index) private {
        (address token, uint256 amount, uint256 floor) = (leg.token, leg.amount, leg.floor);
        if (amount == 0) revert ZeroLegAmount(index);
        if ((amount | floor) >> 128 != 0) revert AmountTooLarge(index, Math.max(amount, floor));
        uint256 bit = _filterBit(token);
        if (plan.tokenFilter & bit != 0) _requireNewToken(route.legs, index, token);
        plan.tokenFilter |= bit;

        Hop hop = Hop.wrap(leg.hop);
        PlannedLeg planned = plan.itinerary.leg(index);
        if (hop.isDropped()) {
            if (!hop.isOnlyDropped()) revert InvalidHop(index, Hop.unwrap(hop));
            planned.write(token, SwapWord.toReceiver(address(this)), amount, 0);
            plan.dropped = _skip(plan.itinerary, index, plan.dropped, SkipReason.Dropped);
            return;
        }
        unchecked {
            plan.floors += floor; // thirty times 128 bits at most
        }
        Swap swap;
        uint256 least = 0;
        if (hop.venue() != 0) (swap, least) = _planPoolLeg(plan, index, token, floor, hop);
        else if (token == WRAPPED_NATIVE) swap = _planWrappedLeg(plan, index, amount, floor, hop);
        else swap = _planRouterLeg(plan, route, index, token, hop);
        planned.write(token, swap, amount, least);
    }

    function _planPoolLeg(Plan memory plan, uint256 index, address token, uint256 floor, Hop hop)
        private
        view
        returns (Swap swap, uint256 least)
    {
        if (!hop.isPoolLeg()) revert InvalidHop(index, Hop.unwrap(hop));
        address tokenOut = plan.settlementToken;
        if (token == tokenOut) revert TokenIsOutput(token);
        if (hop.isJoined()) {
            _join(plan, index, floor);
            tokenOut = WRAPPED_NATIVE;
            if (token == tokenOut) revert TokenIsOutput(token);
            least = hop.least();
        } else {
            least = _grossOf(floor, plan.userBps);
            if (least >> 128 != 0) revert AmountTooLarge(index, floor);
        }
        swap = _poolSwap(plan, index, hop, token, tokenOut);
    }

    /// @dev The wrapped native token needs no swap of its own if it joins the last hop, or if the output is the native
    /// coin.
    function _planWrappedLeg(Plan memory plan, uint256 index, uint256 amount, uint256 floor, Hop hop)
        private
        view
        returns (Swap)
    {
        if (hop.isOnlyJoined()) {
            _join(plan, index, floor);
            plan.itinerary.setWrappedLeg(index);
            return SwapWord.toReceiver(plan.lastHop.receiver());
        }
        if (!hop.isEmpty()) revert InvalidHop(index, Hop.unwrap(hop));
        if (plan.outputToken == WRAPPED_NATIVE) revert TokenIsOutput(WRAPPED_NATIVE);
        if (plan.outputToken != NATIVE) revert UnroutedLegInvalid(index, WRAPPED_NATIVE);
        uint256 least = _grossOf(floor, plan.userBps);
        if (amount < least) revert BelowLeast(index, amount, least);
        return SwapWord.toReceiver(address(this));
    }

    function _planRouterLeg(Plan memory plan, Route calldata route, uint256 index, address token, Hop hop)
        private
        view
        returns (Swap)
    {
        if (!hop.isEmpty()) revert InvalidHop(index, Hop.unwrap(hop));
        if (token == plan.settlementToken) revert TokenIsOutput(token);
        uint256 next = plan.nextCall;
        if (next == route.routerCalls.length || route.routerCalls[next].leg != index) {
            revert UnroutedLegInvalid(index, token);
        }
        _checkRouterCall(route, next, plan.settlementToken);
        plan.nextCall = next + 1;
        plan.heldBefore[next] = IERC20(token).heldBy(address(this));
        return SwapWord.toReceiver(address(this));
    }

    function _join(Plan memory plan, uint256 index, uint256 floor) private pure {
        if (!plan.lastHop.hasPool()) revert JoinedWithoutLastHop(index);
        plan.joinedFloors += floor;
        plan.hasJoined = true;
    }

    // ---------------------------------------------------------------- pools

    function _poolSwap(Plan memory plan, uint256 index, Hop hop, address tokenIn, address tokenOut)
        private
        view
        returns (Swap)
    {
        uint16 id = hop.venue();
        if (plan.venueId != id) {
            plan.venueId = id;
            (plan.venue, plan.initCodeHash) = _venue(id);
        }
        address pool = _poolOf(id, plan.venue, plan.initCodeHash, tokenIn, tokenOut, hop.fee());
        if (pool.code.length == 0) revert NoPool(index, pool);
        // Only the wrapped native token can meet the last hop in a pool; two legs can't, since each has another token.
        if (pool == plan.lastHop.receiver()) revert DuplicatePool(pool);
        return plan.venue.inPool(pool, tokenIn < tokenOut, hop.isSkippable(), hop.priceLimit());
    }

    // ---------------------------------------------------------------- tokens

    function _filterBit(address account) private pure returns (uint256) {
        return 1 << (uint160(account) & 0xff);
    }

    /// @dev The exact check for a token whose filter bit is already set.
    function _requireNewToken(Leg[] calldata legs, uint256 index, address token) private pure {
        for (uint256 i = 0; i < index; ++i) {
            if (legs[i].token == token) revert DuplicateToken(token);
        }
    }

    /// @dev The least gross output of which the user keeps at least `net`, which has at most 133 bits.
    function _grossOf(uint256 net, uint256 userBps) internal pure returns (uint256) {
        unchecked {
            return (net * BPS_DENOMINATOR + userBps - 1) / userBps;
        }
    }
}
