// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../src/interfaces/IVenueList.sol";
import {OutcomeTest} from "./support/OutcomeTest.sol";
import {IUniswapV3Factory} from "./support/Uniswap.sol";

/// @title Legs
/// @notice Which legs are accepted: their number, tokens, amounts and hops, and the pools that they name. Too many and
/// duplicate legs are covered in BadInput.t.sol, calls of routers in RouterLegs.t.sol.
contract Legs is OutcomeTest {
    uint256 private constant MOST = type(uint128).max;

    function test_thirty_legs_are_swept() public {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](30);
        for (uint256 i = 0; i < 30; ++i) {
            IERC20 token = _tokenWithPools("MintableToken", vm.toString(i), 18);
            legs[i] = i % 2 == 0 ? _v3Leg(token, 1_000e18) : _v2Leg(token, 1_000e18);
        }
        assertGt(_sendAndVerify(_sweep(_route(legs), address(weth))).grossOutput, 14.9e18);
    }

    // ---------------------------------------------------------------- tokens and amounts

    function test_a_leg_amount_of_zero_is_refused() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1e6), _v3Leg(dai, 0))), address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.ZeroLegAmount.selector, 1));
        s = _sweep(_route(_legs(_leg(dai, 0, DROPPED), _v3Leg(usdc, 1e6))), address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.ZeroLegAmount.selector, 0));
    }

    function test_an_amount_of_more_than_128_bits_is_refused() public {
        _give(user, address(dai), MOST + 2);
        uint256[4] memory hops = [_hop(V3, POOL_FEE), _hop(V2, 0), DROPPED, 0];
        for (uint256 i = 0; i < hops.length; ++i) {
            Sweep memory s = _usdcSweep();
            s.route.legs = _legs(s.route.legs[0], ISweepBatch.Leg(address(dai), MOST + 1, 1, hops[i]));
            _expectTooLarge(s, 1, MOST + 1);
            s.route.legs[1].amount = type(uint256).max;
            _expectTooLarge(s, 1, type(uint256).max);
        }
    }

    function test_a_floor_of_more_than_128_bits_is_refused() public {
        uint256[2] memory floors = [MOST + 1, type(uint256).max];
        for (uint256 i = 0; i < 2; ++i) {
            Sweep memory s = _usdcSweep();
            s.route.legs[0].floor = floors[i];
            _expectTooLarge(s, 0, floors[i]);
            s = _usdcRouterSweep();
            s.route.legs[0].floor = floors[i];
            _expectTooLarge(s, 0, floors[i]);
        }
    }

    function test_an_amount_and_a_floor_of_the_same_129_bits_are_refused() public {
        Sweep memory s = _usdcSweep();
        s.route.legs = _legs(s.route.legs[0], ISweepBatch.Leg(address(dai), MOST + 1, MOST + 1, DROPPED));
        s.route.maxSkipped = 1;
        _expectTooLarge(s, 1, MOST + 1);
    }

    /// @dev With the fee, the gross output must be larger than the floor.
    function test_a_floor_whose_gross_has_more_than_128_bits_is_refused() public {
        Sweep memory s = _usdcSweep();
        s.route.legs[0].floor = MOST;
        _expectTooLarge(s, 0, MOST);
        uint256 largest = MOST * 9_925 / 10_000;
        s.route.legs[0].floor = largest + 1;
        _expectTooLarge(s, 0, largest + 1);
        s.route.legs[0].floor = largest;
        _expectBelowLeast(s, (largest * 10_000 + 9_924) / 9_925);

        (s.route.legs[0].floor, s.authorization.totalFeeBps) = (MOST, 0);
        _expectBelowLeast(s, MOST);
    }

    function _expectTooLarge(Sweep memory s, uint256 leg, uint256 amount) private {
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.AmountTooLarge.selector, leg, amount));
    }

    function _expectBelowLeast(Sweep memory s, uint256 least) private {
        uint256 gross = _grossOf(_usdcSweep());
        _sign(s);
        _expectRevert(s, _legFailed(0, _pool(V3, usdc), _belowLeast(0, gross, least)));
    }

    /// @dev It buys nearly everything that the pool has.
    function test_an_amount_of_128_bits_is_swept() public {
        assertGt(_grossOf(_sweep(_route(_legs(_v3Leg(dai, MOST))), address(weth))), 999e18);
    }

    function test_the_output_token_cannot_be_a_leg_of_any_kind() public {
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(usdc));
        uint256[4] memory hops = [_hop(V3, POOL_FEE), _hop(V2, 0), _hop(V3, POOL_FEE) | JOINED | 1 << 128, 0];
        for (uint256 i = 0; i < hops.length; ++i) {
            _expectRevert(_sweep(_route(_legs(_leg(usdc, 1e6, hops[i]))), address(usdc)), expected);
        }
        expected = abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(weth));
        _expectRevert(_sweep(_route(_legs(_wethLeg(1e18))), address(weth)), expected);
        _expectRevert(_sweep(_route(_legs(_v3Leg(weth, 1e18))), address(weth)), expected);
    }

    function test_the_wrapped_native_token_cannot_be_swapped_into_the_native_coin() public {
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(weth));
        _expectRevert(_sweep(_route(_legs(_v3Leg(weth, 1e18))), NATIVE), expected);
    }

    // ---------------------------------------------------------------- hops

    function test_undefined_bits_of_a_pool_leg_are_refused() public {
        uint256[2] memory hops = [_hop(V3, POOL_FEE), _hop(V2, 0) | SKIPPABLE];
        for (uint256 i = 0; i < 2; ++i) {
            _expectBitsRefused(hops[i], 42, 42);
            _expectBitsRefused(hops[i], 73, 255);
        }
    }

    /// @dev A least output, above bit 127, is known to joined legs only.
    function test_undefined_bits_of_a_joined_leg_are_refused() public {
        Sweep memory s = _sweep(_joinedRoute(_legs(_joinedLeg(usdc, 1_000e6)), _hop(V3, POOL_FEE)), address(dai));
        uint256 valid = s.route.legs[0].hop;
        for (uint256 bit = 73; bit < 128; ++bit) {
            s.route.legs[0].hop = valid | 1 << bit;
            _expectInvalidHop(s, 0);
        }
    }

    function test_a_dropped_leg_must_not_say_anything_else() public {
        _expectBitsRefused(DROPPED, 0, 41);
        _expectBitsRefused(DROPPED, 43, 255);
    }

    function test_a_leg_without_a_pool_must_not_have_the_fields_of_a_pool() public {
        Sweep memory s = _usdcRouterSweep();
        for (uint256 bit = 0; bit < 256; ++bit) {
            if ((bit >= 24 && bit < 40) || bit == 42) continue; // a venue; dropped
            s.route.legs[0].hop = 1 << bit;
            _expectInvalidHop(s, 0);
        }
    }

    function test_the_wrapped_native_token_can_only_be_joined_or_unwrapped() public {
        Sweep memory s = _sweep(_joinedRoute(_legs(_wethLeg(1e18)), _hop(V3, POOL_FEE)), address(dai));
        for (uint256 bit = 0; bit < 256; ++bit) {
            if ((bit >= 24 && bit < 40) || bit == 40 || bit == 42) continue; // a venue; joined; dropped
            s.route.legs[0].hop = 1 << bit;
            _expectInvalidHop(s, 0);
            s.route.legs[0].hop |= JOINED;
            _expectInvalidHop(s, 0);
        }
    }

    function test_a_router_leg_cannot_be_skippable() public {
        Sweep memory s = _usdcRouterSweep();
        s.route.maxSkipped = 1;
        s.route.legs[0].hop = SKIPPABLE;
        _expectInvalidHop(s, 0);
    }

    function _expectBitsRefused(uint256 hop, uint256 from, uint256 to) private {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(dai, 1e18), _v3Leg(usdc, 1_000e6))), address(weth));
        s.route.maxSkipped = 2;
        for (uint256 bit = from; bit <= to; ++bit) {
            s.route.legs[1].hop = hop | 1 << bit;
            _expectInvalidHop(s, 1);
        }
    }

    function _expectInvalidHop(Sweep memory s, uint256 leg) private {
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InvalidHop.selector, leg, s.route.legs[leg].hop));
    }

    // ---------------------------------------------------------------- venues and pools

    function test_an_unknown_venue_is_refused() public {
        uint16[3] memory unknown = [uint16(3), 256 + V3, type(uint16).max];
        for (uint256 i = 0; i < 3; ++i) {
            _expectRefused(
                _hop(unknown[i], POOL_FEE), abi.encodeWithSelector(IVenueList.UnknownVenue.selector, unknown[i])
            );
        }
    }

    function test_a_removed_venue_is_refused() public {
        v5.removeVenue(V3);
        _expectRefused(_hop(V3, POOL_FEE), abi.encodeWithSelector(IVenueList.UnknownVenue.selector, V3));
        assertGt(_grossOf(_sweep(_route(_legs(_v2Leg(usdc, 1_000e6))), address(weth))), 0.49e18);
    }

    function test_a_fee_that_no_pool_has_is_refused() public {
        uint24[4] memory fees = [uint24(0), POOL_FEE - 1, POOL_FEE + 1, type(uint24).max];
        for (uint256 i = 0; i < fees.length; ++i) {
            address nowhere = v5.poolAddress(V3, address(usdc), address(weth), fees[i]);
            _expectRefused(_hop(V3, fees[i]), abi.encodeWithSelector(ISweepBatch.NoPool.selector, 0, nowhere));
        }
    }

    function test_a_fee_is_refused_if_the_venues_pools_have_none_in_their_address() public {
        uint24[2] memory fees = [uint24(1), type(uint24).max];
        for (uint256 i = 0; i < 2; ++i) {
            _expectRefused(_hop(V2, fees[i]), abi.encodeWithSelector(IVenueList.FeeNotExpected.selector, V2, fees[i]));
        }
    }

    function test_a_pool_that_was_never_created_is_refused() public {
        address[2] memory pools = [
            v5.poolAddress(V3, address(usdc), address(dai), POOL_FEE),
            v5.poolAddress(V2, address(usdc), address(dai), 0)
        ];
        uint256[2] memory hops = [_hop(V3, POOL_FEE), _hop(V2, 0)];
        for (uint256 i = 0; i < 2; ++i) {
            Sweep memory s = _sweep(_route(_legs(_leg(weth, 1e18, hops[i]), _leg(usdc, 1e6, hops[i]))), address(dai));
            _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NoPool.selector, 1, pools[i]));
        }
    }

    function _expectRefused(uint256 hop, bytes memory reason) private {
        Sweep memory s = _usdcSweep();
        s.route.legs[0].hop = hop;
        _sign(s);
        _expectRevert(s, reason);
    }

    function test_a_v3_pool_that_was_not_initialized_fails() public {
        IERC20 token = _token("NEW", 18);
        address pool = IUniswapV3Factory(router.factory()).createPool(address(token), address(weth), POOL_FEE);
        _expectRevert(_sweep(_route(_legs(_v3Leg(token, 1e18))), address(weth)), _legFailed(0, pool, _text("LOK")));
    }

    function test_a_v3_pool_without_liquidity_takes_nothing() public {
        IERC20 token = _token("EMPTY", 18);
        address pool = _addThinPool(token, weth, 0);
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 0, 0, 1e18);
        _expectRevert(_sweep(_route(_legs(_v3Leg(token, 1e18))), address(weth)), _legFailed(0, pool, reason));
    }

    function test_a_v2_pair_without_liquidity_pays_nothing() public {
        IERC20 token = _token("EMPTY", 18);
        address pair = v2Factory.createPair(address(token), address(weth));
        Sweep memory s = _sweep(_route(_legs(_v2Leg(token, 1e18))), address(weth));
        _expectRevert(s, _legFailed(0, pair, _belowLeast(0, 0, 2)));
        s.route.legs[0].floor = 0;
        _sign(s);
        _expectRevert(s, _legFailed(0, pair, _belowLeast(0, 0, 1)));
    }

    function test_a_v3_pool_that_can_take_a_part_only_fails() public {
        IERC20 token = _token("THIN", 18);
        address pool = _addThinPool(token, weth, 1e18);
        (uint256 taken,) = _fill(token, weth, 2e18);
        assertGt(taken, 1e18);
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 0, taken, 2e18);
        _expectRevert(_sweep(_route(_legs(_v3Leg(token, 2e18))), address(weth)), _legFailed(0, pool, reason));

        Sweep memory s = _sweep(_route(_legs(_v3Leg(token, taken - 1e9))), address(weth));
        assertGt(_grossOf(s), 0.99e18);
    }

    /// @dev What an earlier sweep of the same transaction noted does not count: a test is one transaction.
    function test_a_pool_that_does_not_call_back_fails_after_another_sweep_too() public {
        Sweep memory s = _usdcSweep();
        vm.etch(_pool(V3, dai), hex"00"); // stops
        Sweep memory silent = _sweep(_route(_legs(_v3Leg(dai, 1_000e18))), address(weth));
        silent.authorization.nonce = 8;
        silent.permitNonce = 12;
        _sign(silent);
        _expectRevert(silent, abi.encodeWithSelector(ISweepBatch.NotCalledBack.selector));
        _send(s);
        _expectRevert(silent, abi.encodeWithSelector(ISweepBatch.NotCalledBack.selector));
    }
}
