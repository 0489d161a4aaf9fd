// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../src/interfaces/IVenueList.sol";
import {OutcomeTest} from "./support/OutcomeTest.sol";

/// @title LastHop
/// @notice Legs that are swapped to the wrapped native token, and together into the output: what they bring, how the
/// wrapped native token itself joins them, and which routes are refused.
contract LastHop is OutcomeTest {
    uint256 private constant V3_HOP = uint256(V3) << 24 | POOL_FEE;
    uint256 private constant V2_HOP = uint256(V2) << 24;

    function _twoJoined() private returns (ISweepBatch.Leg[] memory) {
        return _legs(_joinedLeg(usdc, 1_000e6), _leg(wbtc, 1_000e8, V2_HOP | JOINED | 1 << 128));
    }

    /// @dev What the pools of both legs pay in the wrapped native token.
    function _wrappedOfTwo() private returns (uint256) {
        return _grossOf(_sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v2Leg(wbtc, 1_000e8))), address(weth)));
    }

    /// @dev What a pool of the wrapped native token pays for so much of it, as a sweep of a single pool leg.
    function _paid(uint256 wrapped, IERC20 output, uint256 hop) private returns (uint256) {
        return _grossOf(_sweep(_route(_legs(_leg(weth, wrapped, hop))), address(output)));
    }

    // ---------------------------------------------------------------- what it brings

    function test_joined_legs_are_swapped_together_in_the_last_hop() public {
        uint256 wrapped = _wrappedOfTwo();
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        IERC20[3] memory outputs = [dai, usdt, gusd];
        for (uint256 i = 0; i < 2; ++i) {
            for (uint256 j = 0; j < 3; ++j) {
                uint256 gross = _grossOf(_sweep(_joinedRoute(_twoJoined(), hops[i]), address(outputs[j])));
                assertEq(gross, _paid(wrapped, outputs[j], hops[i]));
            }
        }
    }

    function test_the_wrapped_native_token_joins_with_other_legs() public {
        uint256 wrapped = _wrappedOfTwo() + 3e18;
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 expected = _paid(wrapped, dai, hops[i]);
            for (uint256 place = 0; place < 3; ++place) {
                ISweepBatch.Leg[] memory two = _twoJoined();
                ISweepBatch.Leg[] memory legs = _legs(two[0], two[1], _leg(weth, 3e18, JOINED));
                (legs[2], legs[place]) = (legs[place], legs[2]);
                assertEq(_grossOf(_sweep(_joinedRoute(legs, hops[i]), address(dai))), expected);
            }
        }
    }

    function test_the_wrapped_native_token_joins_alone() public {
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            Sweep memory s = _sweep(_joinedRoute(_legs(_leg(weth, 3e18, JOINED)), hops[i]), address(dai));
            assertEq(_grossOf(s), _paid(3e18, dai, hops[i]));
        }
    }

    function test_the_wrapped_native_token_is_swapped_beside_a_last_hop_in_another_pool() public {
        uint256 expected = _paid(_wrappedOfTwo(), dai, V3_HOP) + _paid(3e18, dai, V2_HOP);
        ISweepBatch.Leg[] memory two = _twoJoined();
        ISweepBatch.Leg[] memory legs = _legs(two[0], _leg(weth, 3e18, V2_HOP), two[1]);
        assertEq(_grossOf(_sweep(_joinedRoute(legs, V3_HOP), address(dai))), expected);
    }

    function test_joined_direct_and_router_legs_run_in_one_sweep() public {
        address direct = _addV3Pool(address(usdt), address(dai), 2e12, 2e24);
        ISweepBatch.Route memory route =
            _joinedRoute(_legs(_joinedLeg(usdc, 1_000e6), _v3Leg(usdt, 1_000e6), _leg(wbtc, 1_000e8, 0)), V2_HOP);
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3PathCall(2, wbtc, dai, 1_000e8);
        uint256 gross = _sendAndVerify(_sweep(route, address(dai))).grossOutput;
        assertGt(gross, 2_950e18);
        assertEq(usdt.balanceOf(direct), 2e12 + 1_000e6);
    }

    /// @dev Otherwise it would be a gift to the user.
    function test_idle_wrapped_native_token_does_not_join() public {
        uint256 expected = _grossOf(_sweep(_joinedRoute(_twoJoined(), V3_HOP), address(dai)));
        _fund(address(weth), address(v5), 5e18);
        assertEq(_grossOf(_sweep(_joinedRoute(_twoJoined(), V3_HOP), address(dai))), expected);
    }

    // ---------------------------------------------------------------- floors

    function test_the_joined_legs_bring_the_sum_of_their_floors_or_the_sweep_reverts() public {
        ISweepBatch.Leg[] memory two = _twoJoined();
        ISweepBatch.Route memory route = _joinedRoute(_legs(two[0], two[1], _leg(weth, 1e18, JOINED)), V3_HOP);
        uint256 gross = _grossOf(_sweep(route, address(dai)));
        uint256 net = gross * 9_925 / 10_000;
        (route.legs[0].floor, route.legs[1].floor, route.legs[2].floor) = (net - 7, 0, 7);
        assertEq(_grossOf(_sweep(route, address(dai))), gross);
        route.legs[2].floor += 1;
        _expectRevert(_sweep(route, address(dai)), _belowLeast(3, gross, gross + 1));
    }

    /// @dev What other legs bring does not make up for it.
    function test_the_floors_of_joined_legs_are_their_own() public {
        ISweepBatch.Route memory route =
            _joinedRoute(_legs(_joinedLeg(usdc, 1_000e6), _leg(weth, 9e18, V2_HOP)), V3_HOP);
        (, uint256 wrapped) = _fill(usdc, weth, 1_000e6);
        uint256 got = _paid(wrapped, dai, V3_HOP);
        route.legs[0].floor = got;
        uint256 least = (got * 10_000 + 9_924) / 9_925;
        _expectRevert(_sweep(route, address(dai)), _belowLeast(2, got, least));
    }

    function test_a_joined_leg_pays_its_least_in_the_wrapped_native_token_or_the_sweep_reverts() public {
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 wrapped = _grossOf(_sweep(_route(_legs(_leg(usdc, 1_000e6, hops[i]))), address(weth)));
            uint256 hop = hops[i] | JOINED;
            Sweep memory s =
                _sweep(_joinedRoute(_legs(_leg(usdc, 1_000e6, hop | wrapped << 128)), V3_HOP), address(dai));
            _grossOf(s);
            s.route.legs[0].hop = hop | (wrapped + 1) << 128;
            _sign(s);
            address pool = i == 0 ? _pool(V3, usdc) : _pool(V2, usdc);
            _expectRevert(s, _legFailed(0, pool, _belowLeast(0, wrapped, wrapped + 1)));
        }
    }

    // ---------------------------------------------------------------- fills

    function test_a_last_hop_that_can_take_a_part_only_fails() public {
        IERC20 thin = _token("THIN", 18);
        address pool = _addThinPool(weth, thin, 1e18);
        (uint256 taken,) = _fill(weth, thin, 3e18);
        ISweepBatch.Leg[] memory legs = _legs(_joinedLeg(usdc, 1_000e6), _leg(weth, 2e18, JOINED));
        (, uint256 wrapped) = _fill(usdc, weth, 1_000e6);
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 2, taken, 2e18 + wrapped);
        _expectRevert(_sweep(_joinedRoute(legs, V3_HOP), address(thin)), _legFailed(2, pool, reason));
    }

    function test_a_last_hop_without_liquidity_fails() public {
        IERC20 empty = _token("EMPTY", 18);
        address pool = _addThinPool(weth, empty, 0);
        Sweep memory s = _sweep(_joinedRoute(_legs(_leg(weth, 1e18, JOINED)), V3_HOP), address(empty));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 1, 0, 1e18);
        _expectRevert(s, _legFailed(1, pool, reason));

        address pair = v2Factory.createPair(address(weth), address(empty));
        s = _sweep(_joinedRoute(_legs(_leg(weth, 1e18, JOINED)), V2_HOP), address(empty));
        _expectRevert(s, _legFailed(1, pair, _text("UniswapV2: INSUFFICIENT_OUTPUT_AMOUNT")));
    }

    // ---------------------------------------------------------------- routes that are refused

    function test_a_joined_leg_needs_a_last_hop() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1e6), _joinedLeg(dai, 1e18));
        _expectRevert(_sweep(_route(legs), address(weth)), _joinedWithoutLastHop(1));
        _expectRevert(_sweep(_route(_legs(_joinedLeg(usdc, 1e6))), address(dai)), _joinedWithoutLastHop(0));
        _expectRevert(_sweep(_route(_legs(_leg(weth, 1e18, JOINED))), address(dai)), _joinedWithoutLastHop(0));
        _expectRevert(_sweep(_route(_legs(_leg(weth, 1e18, JOINED))), NATIVE), _joinedWithoutLastHop(0));
    }

    function _joinedWithoutLastHop(uint256 leg) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.JoinedWithoutLastHop.selector, leg);
    }

    function test_a_last_hop_needs_a_joined_leg() public {
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.LastHopWithoutJoinedLeg.selector, V3_HOP);
        _expectRevert(_sweep(_joinedRoute(_legs(_leg(weth, 1e18, V2_HOP)), V3_HOP), address(dai)), expected);

        ISweepBatch.Route memory route = _joinedRoute(_legs(_leg(weth, 1e18, V2_HOP), _leg(usdc, 1e6, DROPPED)), V3_HOP);
        route.maxSkipped = 1;
        _expectRevert(_sweep(route, address(dai)), expected);
    }

    function test_the_wrapped_native_token_as_output_needs_no_last_hop() public {
        address[2] memory outputs = [address(weth), NATIVE];
        for (uint256 i = 0; i < 2; ++i) {
            Sweep memory s = _sweep(_joinedRoute(_twoJoined(), V3_HOP), outputs[i]);
            _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InvalidHop.selector, 2, V3_HOP));
        }
    }

    function test_a_last_hop_is_a_pool_and_nothing_else() public {
        Sweep memory s = _sweep(_joinedRoute(_twoJoined(), V3_HOP), address(dai));
        for (uint256 bit = 40; bit < 256; ++bit) {
            _expectInvalidLastHop(s, V3_HOP | 1 << bit);
        }
        _expectInvalidLastHop(s, POOL_FEE); // no venue
        _expectInvalidLastHop(s, JOINED);
    }

    function _expectInvalidLastHop(Sweep memory s, uint256 hop) private {
        s.route.lastHop = hop;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InvalidHop.selector, 2, hop));
    }

    function test_the_last_hop_needs_a_known_venue_fee_and_pool() public {
        Sweep memory s = _sweep(_joinedRoute(_twoJoined(), _hop(3, POOL_FEE)), address(dai));
        _expectRevert(s, abi.encodeWithSelector(IVenueList.UnknownVenue.selector, 3));
        s = _sweep(_joinedRoute(_twoJoined(), _hop(V2, POOL_FEE)), address(dai));
        _expectRevert(s, abi.encodeWithSelector(IVenueList.FeeNotExpected.selector, V2, POOL_FEE));
        s = _sweep(_joinedRoute(_twoJoined(), _hop(V3, 500)), address(dai));
        address nowhere = v5.poolAddress(V3, address(weth), address(dai), 500);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NoPool.selector, 2, nowhere));
    }

    function test_the_wrapped_native_token_cannot_use_the_pool_of_the_last_hop() public {
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            address pool = i == 0 ? _pool(V3, dai) : _pool(V2, dai);
            bytes memory expected = abi.encodeWithSelector(ISweepBatch.DuplicatePool.selector, pool);
            ISweepBatch.Leg[] memory legs = _legs(_leg(weth, 1e18, hops[i]), _joinedLeg(usdc, 1e6));
            _expectRevert(_sweep(_joinedRoute(legs, hops[i]), address(dai)), expected);
            (legs[0], legs[1]) = (legs[1], legs[0]);
            _expectRevert(_sweep(_joinedRoute(legs, hops[i]), address(dai)), expected);
        }
    }

    function test_a_joined_pool_leg_of_the_wrapped_native_token_is_refused() public {
        Sweep memory s = _sweep(_joinedRoute(_legs(_joinedLeg(weth, 1e18)), V3_HOP), address(dai));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(weth)));
    }
}
