// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostilePool, PoolScript} from "./support/HostilePools.sol";
import {HostilePoolTest} from "./support/HostilePoolTest.sol";
import {
    CallsBackTwice,
    CatchesReverts,
    NeverCallsBack,
    OtherAmounts,
    PaysNothing,
    ReturnBomb,
    RevertsWith
} from "./support/PoolScripts.sol";

/// @title HostilePools
/// @notice A pool of a listed venue that calls back in other ways than it should. It can waste its own leg or the whole
/// transaction; it can neither take more than its own leg's token nor pass for a leg that was left out.
contract HostilePools is HostilePoolTest {
    function test_a_pool_of_the_hostile_venue_that_behaves_is_swept() public {
        Sweep memory s = _between();
        _send(s);
        assertGt(weth.balanceOf(user), 1.48e18);
        assertEq(dai.balanceOf(address(pool)), AMOUNT);
    }

    // ---------------------------------------------------------------- how often, and when

    function test_a_second_callback_of_a_pool_is_refused() public {
        Sweep memory s = _between();
        uint256 fair = _fairOutput(s);
        _configure(new CallsBackTwice());
        _send(s);
        bytes4 callback = _v3Venue().callback;
        assertEq(pool.responseCount(), 2);
        assertEq(
            pool.response(1), abi.encodeWithSelector(ISweepBatch.UnexpectedCallback.selector, address(pool), callback)
        );
        assertEq(weth.balanceOf(user), fair);
        assertEq(dai.balanceOf(address(pool)), AMOUNT);
    }

    function test_a_second_callback_of_a_v2_pool_is_refused() public {
        HostilePool v2Pool = _hostileV2Pool(dai, weth, address(new CallsBackTwice()), PAYOUT);
        Sweep memory s = _sweep(_route(_legs(_hostileV2Leg(dai, AMOUNT), _v3Leg(usdc, 1_000e6))), address(weth));
        _send(s);
        assertEq(v2Pool.responseCount(), 2);
        assertEq(bytes4(v2Pool.response(1)), ISweepBatch.UnexpectedCallback.selector);
        assertEq(dai.balanceOf(address(v2Pool)), AMOUNT);
    }

    function test_a_sweep_whose_only_pool_does_not_call_back_reverts() public {
        _configure(new NeverCallsBack());
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, AMOUNT))), address(weth));
        s.route.legs[0].floor = 0;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NotCalledBack.selector));
        assertEq(dai.balanceOf(user), AMOUNT);
    }

    /// @dev The pool before it is honest and was not paid, because nothing behind the hostile pool ran.
    function test_a_pool_that_does_not_call_back_leaves_the_pool_before_it_unpaid() public {
        _configure(new NeverCallsBack());
        Sweep memory s = _betweenSkippable();
        _expectRevert(s, _legFailed(0, _pool(V3, usdc, weth), _text("IIA")));
        _expectNothingMoved(s);
    }

    /// @dev Nor is a pool that does not call back counted as skipped, even if it may be and is the first one.
    function test_a_skippable_first_pool_that_does_not_call_back_reverts_the_sweep() public {
        _configure(new NeverCallsBack());
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, AMOUNT), _v3Leg(usdc, 1_000e6))), address(weth));
        (s.route.legs[0].hop, s.route.maxSkipped) = (s.route.legs[0].hop | SKIPPABLE, 1);
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NotCalledBack.selector));
    }

    function test_a_last_hop_that_does_not_call_back_leaves_the_pools_before_it_unpaid() public {
        _hostilePool(weth, usdt, address(new NeverCallsBack()), 1_000e6);
        Sweep memory s = _sweep(_route(_legs(_joinedLeg(usdc, 1_000e6))), address(usdt));
        s.route.lastHop = _hop(HOSTILE_V3, POOL_FEE);
        _sign(s);
        _expectRevert(s, _legFailed(0, _pool(V3, usdc, weth), _text("IIA")));
    }

    // ---------------------------------------------------------------- a pool that catches our reverts

    function test_a_pool_that_catches_the_revert_for_its_price_is_not_paid_and_reverts_the_sweep() public {
        _configure(new CatchesReverts());
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, AMOUNT), _v3Leg(usdc, 1_000e6))), address(weth));
        s.route.legs[0].floor = 0.6e18; // more than it pays
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NotCalledBack.selector));
    }

    /// @dev What fails behind it is undone, even if a pool catches it, and so is the mark that the tokens were transferred.
    function test_a_pool_that_catches_the_revert_of_the_transfers_reverts_the_sweep() public {
        _configure(new CatchesReverts());
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, AMOUNT), _v3Leg(usdc, 1_000e6))), address(weth));
        vm.prank(user);
        assertTrue(usdc.transfer(partner, 1)); // leaves less than the signed amount
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NotCalledBack.selector));
        assertEq(dai.balanceOf(user), AMOUNT);
    }

    // ---------------------------------------------------------------- other amounts

    function test_a_pool_that_takes_less_than_the_whole_amount_fails_its_leg() public {
        _configure(new OtherAmounts(int256(AMOUNT) - 1, -int256(PAYOUT)));
        bytes memory verdict = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 1, AMOUNT - 1, AMOUNT);
        _expectRevert(_between(), _legFailed(1, address(pool), verdict));
    }

    function test_a_pool_that_demands_more_than_the_amount_fails_its_leg() public {
        _configure(new OtherAmounts(int256(AMOUNT) + 1, -int256(PAYOUT)));
        bytes memory verdict = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 1, AMOUNT + 1, AMOUNT);
        _expectRevert(_between(), _legFailed(1, address(pool), verdict));
    }

    /// @dev Of which the lower 128 bits are the amount.
    function test_a_pool_that_demands_far_more_than_the_amount_fails_its_leg() public {
        uint256 owed = AMOUNT + (1 << 128);
        _configure(new OtherAmounts(int256(owed), -int256(PAYOUT)));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 1, owed, AMOUNT);
        _expectRevert(_between(), _legFailed(1, address(pool), reason));
    }

    function test_a_skippable_pool_that_reports_other_amounts_is_left_out() public {
        Sweep memory s = _betweenSkippable();
        _configure(new OtherAmounts(1, -int256(PAYOUT)));
        _sendSkipping(s, 1, ISweepBatch.SkipReason.NotFilled);
        assertEq(dai.balanceOf(user), AMOUNT);
        assertEq(weth.balanceOf(address(pool)), PAYOUT); // its payment is undone with its swap
    }

    function test_a_pool_that_reports_less_than_its_floor_is_left_out() public {
        Sweep memory s = _betweenSkippable();
        _configure(new OtherAmounts(int256(AMOUNT), 0));
        _sendSkipping(s, 1, ISweepBatch.SkipReason.BelowLeast);
        assertEq(dai.balanceOf(user), AMOUNT);
    }

    /// @dev A pool reports what it pays as a negative number. A positive one is read as an enormous payment; the output
    /// is measured, so it pays no one.
    function test_a_pool_that_reports_an_impossible_payment_does_not_raise_the_output() public {
        _configure(new OtherAmounts(int256(AMOUNT), type(int256).max));
        Sweep memory s = _between();
        _send(s);
        assertLt(weth.balanceOf(user), 1.5e18);
    }

    function test_the_sum_of_the_floors_holds_against_a_pool_that_only_claims_to_pay() public {
        Sweep memory s = _between();
        for (uint256 i = 0; i < 3; ++i) {
            s.route.legs[i].floor = 0.49e18;
        }
        _sign(s);
        uint256 fair = _fairOutput(s);
        _configure(new PaysNothing());
        uint256 missing = PAYOUT - PAYOUT * 75 / 10_000;
        vm.expectPartialRevert(ISweepBatch.InsufficientUserOutput.selector);
        _send(s);

        // The others' gain above their floors is all that can hide it: here the floors are low.
        for (uint256 i = 0; i < 3; ++i) {
            s.route.legs[i].floor = 1;
        }
        _sign(s);
        _send(s);
        assertApproxEqAbs(weth.balanceOf(user), fair - missing, 1);
    }

    // ---------------------------------------------------------------- reserves and long answers

    function test_a_v2_pool_whose_reserves_fail_with_a_refusal_reverts_the_sweep() public {
        bytes memory verdict = abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, 0, 0, 1);
        RevertsWith script = new RevertsWith(RevertsWith.Moment.GetReserves, verdict);
        HostilePool v2Pool = _hostileV2Pool(dai, weth, address(script), PAYOUT);
        ISweepBatch.Leg memory leg = _skippable(_hostileV2Leg(dai, AMOUNT));
        Sweep memory s = _sweep(_route(_legs(leg, _v3Leg(usdc, 1_000e6))), address(weth));
        s.route.maxSkipped = 1;
        _sign(s);
        _expectRevert(s, _legFailed(0, address(v2Pool), verdict));
    }

    function test_a_pool_that_returns_a_lot_of_data_is_swept() public {
        Sweep memory s = _between();
        uint256 fair = _fairOutput(s);
        _configure(PoolScript(new ReturnBomb(false)));
        _send(s);
        assertEq(weth.balanceOf(user), fair);
    }

    /// @dev With a gas limit of 16,777,216, which is all that a transaction may have (EIP-7825).
    function test_a_pool_that_reverts_with_a_lot_of_data_reverts_the_sweep_and_is_not_skipped() public {
        Sweep memory s = _betweenSkippable();
        _configure(PoolScript(new ReturnBomb(true)));
        vm.prank(user);
        (bool success,) = address(v5).call{gas: 16_777_216}(_dataOf(s));
        assertFalse(success);
        _expectNothingMoved(s);
    }
}
