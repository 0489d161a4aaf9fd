// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {Executed} from "./support/Executed.sol";
import {BlocklistToken} from "./support/Hostile.sol";
import {OutcomeTest} from "./support/OutcomeTest.sol";

/// @title Skipping
/// @notice Legs are left out only if the user consented, only for their pool's price or by the offer, and nothing of
/// them happens.
contract Skipping is OutcomeTest {
    uint256 private constant V3_HOP = uint256(V3) << 24 | POOL_FEE;
    uint256 private constant V2_HOP = uint256(V2) << 24;
    ISweepBatch.SkipReason private constant DROP = ISweepBatch.SkipReason.Dropped;
    ISweepBatch.SkipReason private constant BELOW_LEAST = ISweepBatch.SkipReason.BelowLeast;
    ISweepBatch.SkipReason private constant NOT_FILLED = ISweepBatch.SkipReason.NotFilled;

    /// @dev Three legs straight to the output, each skippable, of which the user lets one be left out.
    function _route3() private returns (ISweepBatch.Route memory route) {
        route = _route(_legs(_v3Leg(usdc, 1_000e6), _v2Leg(wbtc, 1_000e8), _v3Leg(dai, 1_000e18)));
        route.maxSkipped = 1;
        for (uint256 i = 0; i < 3; ++i) {
            route.legs[i].hop |= SKIPPABLE;
            route.legs[i].floor = 0.48e18;
        }
    }

    function _tooManySkipped(uint256 skipped, uint256 maxSkipped) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.TooManySkipped.selector, skipped, maxSkipped);
    }

    // ---------------------------------------------------------------- by price

    function test_skippable_legs_at_a_fair_price_run() public {
        assertGt(_grossOf(_sweep(_route3(), address(weth))), 1.47e18);
    }

    function test_a_leg_below_its_floor_is_skipped_at_any_index() public {
        for (uint256 i = 0; i < 3; ++i) {
            ISweepBatch.Route memory route = _route3();
            route.legs[i].floor = 0.5e18;
            uint256 snapshot = vm.snapshotState();
            Executed memory e = _sendAndVerify(_sweep(route, address(weth)), _skips(i, BELOW_LEAST));
            assertApproxEqRel(e.grossOutput, 0.996e18, 0.01e18);
            vm.revertToState(snapshot);
        }
    }

    function test_a_leg_is_skipped_from_the_first_unit_below_its_floor() public {
        for (uint256 i = 0; i < 2; ++i) {
            ISweepBatch.Route memory route = _route3();
            uint256 gross = _grossOf(_sweep(_route(_legs(_legAlone(route.legs[i]))), address(weth)));
            route.legs[i].floor = gross * 9_925 / 10_000;
            _grossOf(_sweep(route, address(weth)));
            route.legs[i].floor += 1;
            uint256 snapshot = vm.snapshotState();
            _sendAndVerify(_sweep(route, address(weth)), _skips(i, BELOW_LEAST));
            vm.revertToState(snapshot);
        }
    }

    function _legAlone(ISweepBatch.Leg memory leg) private pure returns (ISweepBatch.Leg memory) {
        return ISweepBatch.Leg(leg.token, leg.amount, 1, leg.hop & ~SKIPPABLE);
    }

    function test_a_leg_that_its_pool_can_take_in_part_only_is_skipped() public {
        uint256[2] memory liquidity = [uint256(0), 1e18];
        for (uint256 i = 0; i < 2; ++i) {
            IERC20 thin = _token("THIN", 18);
            _addThinPool(thin, weth, liquidity[i]);
            ISweepBatch.Route memory route = _route3();
            route.legs[1] = _leg(thin, 1_000e18, V3_HOP | SKIPPABLE);
            uint256 snapshot = vm.snapshotState();
            _sendAndVerify(_sweep(route, address(weth)), _skips(1, NOT_FILLED));
            vm.revertToState(snapshot);
        }
    }

    function test_a_leg_whose_pair_has_no_liquidity_is_skipped() public {
        IERC20 empty = _token("EMPTY", 18);
        v2Factory.createPair(address(empty), address(weth));
        ISweepBatch.Route memory route = _route3();
        route.legs[2] = _leg(empty, 1_000e18, V2_HOP | SKIPPABLE);
        _sendAndVerify(_sweep(route, address(weth)), _skips(2, BELOW_LEAST));
    }

    function test_a_leg_for_which_its_pair_would_pay_nothing_is_skipped_even_without_a_floor() public {
        ISweepBatch.Route memory route = _route(_legs(_v2Leg(dai, 1), _v3Leg(usdc, 1_000e6)));
        (route.legs[0].floor, route.legs[0].hop, route.maxSkipped) = (0, route.legs[0].hop | SKIPPABLE, 1);
        _sendAndVerify(_sweep(route, address(weth)), _skips(0, BELOW_LEAST));
    }

    function test_legs_in_a_row_are_skipped() public {
        for (uint256 first = 0; first < 2; ++first) {
            ISweepBatch.Route memory route = _route3();
            route.maxSkipped = 2;
            (route.legs[first].floor, route.legs[first + 1].floor) = (1e18, 2e18);
            Skip[] memory skips = new Skip[](2);
            (skips[0], skips[1]) = (Skip(first, BELOW_LEAST), Skip(first + 1, BELOW_LEAST));
            uint256 snapshot = vm.snapshotState();
            _sendAndVerify(_sweep(route, address(weth)), skips);
            vm.revertToState(snapshot);
        }
    }

    function test_more_legs_than_the_user_allowed_are_not_skipped() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[0].floor, route.legs[2].floor) = (1e18, 1e18);
        _expectRevert(_sweep(route, address(weth)), _tooManySkipped(2, 1));
        route.maxSkipped = 0;
        _expectRevert(_sweep(route, address(weth)), _tooManySkipped(1, 0));
    }

    function test_a_leg_that_is_not_skippable_reverts_the_sweep() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[2].floor, route.legs[2].hop) = (1e18, V3_HOP);
        (, uint256 got) = _fill(dai, weth, 1_000e18);
        bytes memory reason = _belowLeast(2, got, (1e22 + 9_924) / uint256(9_925));
        _expectRevert(_sweep(route, address(weth)), _legFailed(2, _pool(V3, dai), reason));
    }

    function test_not_every_leg_can_be_skipped() public {
        ISweepBatch.Route memory route = _route3();
        route.maxSkipped = 3;
        for (uint256 i = 0; i < 3; ++i) {
            route.legs[i].floor = 1e18;
        }
        Sweep memory s = _sweep(route, address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.AllLegsSkipped.selector, 3));
    }

    function test_a_pool_leg_is_skipped_beside_a_router_leg() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[0].hop, route.legs[1].floor) = (0, 1e18);
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3Call(0, usdc, address(weth), 1_000e6, address(v5));
        _sendAndVerify(_sweep(route, address(weth)), _skips(1, BELOW_LEAST));
    }

    function test_at_most_255_legs_can_be_allowed_to_be_skipped() public {
        Sweep memory s = _usdcSweep();
        s.route.maxSkipped = 255;
        _sign(s);
        _grossOf(s);
        uint256[2] memory others = [uint256(256), type(uint256).max];
        for (uint256 i = 0; i < 2; ++i) {
            s.route.maxSkipped = others[i];
            _sign(s);
            _expectRevert(s, abi.encodeWithSelector(ISweepBatch.MaxSkippedTooLarge.selector, others[i]));
        }
    }

    // ---------------------------------------------------------------- joined legs

    /// @dev Two joined legs of the wrapped native token's pools, and a leg straight to the output.
    function _joined3(uint256 lastHop) private returns (ISweepBatch.Route memory route) {
        ISweepBatch.Leg memory direct = _leg(usdt, 1_000e6, V3_HOP);
        route = _joinedRoute(_legs(_joinedLeg(usdc, 1_000e6), direct, _joinedLeg(wbtc, 1_000e8)), lastHop);
        (route.legs[0].hop, route.legs[2].hop) = (route.legs[0].hop | SKIPPABLE, route.legs[2].hop | SKIPPABLE);
        (route.legs[0].floor, route.legs[2].floor) = (900e18, 900e18);
        route.maxSkipped = 2;
        _addV3Pool(address(usdt), address(dai), 2e12, 2e24);
    }

    function test_a_joined_leg_below_its_least_is_skipped_with_its_floor() public {
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            ISweepBatch.Route memory route = _joined3(hops[i]);
            route.legs[0].hop |= 1e18 << 128;
            Executed memory e = _sendAndVerify(_sweep(route, address(dai)), _skips(0, BELOW_LEAST));
            assertApproxEqRel(e.grossOutput, 1_990e18, 0.01e18);
            vm.revertToState(snapshot);
        }
    }

    function test_the_floors_of_skipped_joined_legs_do_not_count() public {
        ISweepBatch.Route memory route = _joined3(V3_HOP);
        (route.legs[0].hop, route.legs[0].floor) = (route.legs[0].hop | 1e18 << 128, 1e30);
        (, uint256 wrapped) = _fill(wbtc, weth, 1_000e8);
        (, uint256 got) = _fill(weth, dai, wrapped);
        route.legs[2].floor = got * 9_925 / 10_000;
        uint256 snapshot = vm.snapshotState();
        _sendAndVerify(_sweep(route, address(dai)), _skips(0, BELOW_LEAST));
        vm.revertToState(snapshot);
        route.legs[2].floor += 1;
        _expectRevert(_sweep(route, address(dai)), _belowLeast(3, got, got + 1));
    }

    function test_if_all_joined_legs_are_skipped_the_last_hop_is_not_called() public {
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            Sweep memory s = _sweep(_noneJoins(hops[i]), address(dai));
            address pool = i == 0 ? _pool(V3, dai) : _pool(V2, dai);
            vm.expectCall(pool, "", 0);
            Executed memory e = _sendAndVerify(s, _bothJoinedSkipped());
            assertApproxEqRel(e.grossOutput, 997e18, 0.01e18);
            vm.revertToState(snapshot);
        }
    }

    function test_if_all_others_are_skipped_the_wrapped_native_token_takes_the_last_hop_alone() public {
        uint256[2] memory hops = [V3_HOP, V2_HOP];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 expected = _grossOf(_sweep(_route(_legs(_leg(weth, 1e18, hops[i]))), address(dai)));
            uint256 snapshot = vm.snapshotState();
            ISweepBatch.Route memory route = _noneJoins(hops[i]);
            route.legs[1] = _leg(weth, 1e18, JOINED);
            assertEq(_sendAndVerify(_sweep(route, address(dai)), _bothJoinedSkipped()).grossOutput, expected);
            vm.revertToState(snapshot);
        }
    }

    function _noneJoins(uint256 lastHop) private returns (ISweepBatch.Route memory route) {
        route = _joined3(lastHop);
        (route.legs[0].hop, route.legs[2].hop) = (route.legs[0].hop | 1e18 << 128, route.legs[2].hop | 1e18 << 128);
    }

    function _bothJoinedSkipped() private pure returns (Skip[] memory skips) {
        skips = new Skip[](2);
        (skips[0], skips[1]) = (Skip(0, BELOW_LEAST), Skip(2, BELOW_LEAST));
    }

    // ---------------------------------------------------------------- by the offer

    /// @dev The same signature of the user is good for an offer without a token, whatever way the token had.
    function test_an_offer_can_drop_a_leg_under_the_same_signature_of_the_user() public {
        for (uint256 i = 0; i < 3; ++i) {
            Sweep memory s = _sweep(_route3(), address(weth));
            s.route.legs[i].hop = DROPPED;
            _signRoute(s);
            uint256 snapshot = vm.snapshotState();
            Executed memory e = _sendAndVerify(s, _skips(i, DROP));
            assertApproxEqRel(e.grossOutput, 0.996e18, 0.01e18);
            vm.revertToState(snapshot);
        }
    }

    function test_a_dropped_router_leg_needs_no_call() public {
        ISweepBatch.Route memory route = _route(_legs(_leg(usdc, 1_000e6, DROPPED), _v3Leg(dai, 1_000e18)));
        route.maxSkipped = 1;
        _sendAndVerify(_sweep(route, address(weth)), _skips(0, DROP));
    }

    function test_a_dropped_token_is_not_moved_even_if_it_would_refuse() public {
        BlocklistToken blocking = new BlocklistToken();
        ISweepBatch.Route memory route = _route(_legs(_leg(blocking, 1e18, DROPPED), _v3Leg(dai, 1_000e18)));
        route.maxSkipped = 1;
        blocking.blockAccount(address(v5));
        vm.expectCall(address(blocking), abi.encodePacked(IERC20.transferFrom.selector), 0);
        _sendAndVerify(_sweep(route, address(weth)), _skips(0, DROP));
    }

    function test_a_dropped_wrapped_native_token_is_not_unwrapped() public {
        ISweepBatch.Route memory route = _route(_legs(_leg(weth, 1e18, DROPPED), _v3Leg(dai, 1_000e18)));
        route.maxSkipped = 1;
        _sendAndVerify(_sweep(route, NATIVE), _skips(0, DROP));
    }

    function test_dropped_and_skipped_legs_count_together() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[2].hop, route.legs[0].floor) = (DROPPED, 1e18);
        _expectRevert(_sweep(route, address(weth)), _tooManySkipped(2, 1));
        route.maxSkipped = 2;
        Skip[] memory skips = new Skip[](2);
        (skips[0], skips[1]) = (Skip(2, DROP), Skip(0, BELOW_LEAST));
        _sendAndVerify(_sweep(route, address(weth)), skips);
    }

    function test_more_legs_than_the_user_allowed_cannot_be_dropped() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[0].hop, route.legs[1].hop) = (DROPPED, DROPPED);
        _expectRevert(_sweep(route, address(weth)), _tooManySkipped(2, 1));
        route.maxSkipped = 0;
        _expectRevert(_sweep(route, address(weth)), _tooManySkipped(1, 0));
    }

    function test_not_every_leg_can_be_dropped() public {
        ISweepBatch.Route memory route = _route(_legs(_leg(usdc, 1e6, DROPPED), _leg(dai, 1e18, DROPPED)));
        route.maxSkipped = 2;
        Sweep memory s = _sweep(route, address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.AllLegsSkipped.selector, 2));
    }
}
