// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostilePoolTest} from "./support/HostilePoolTest.sol";
import {OtherAmounts, RevertsWith} from "./support/PoolScripts.sol";

/// @title FakedVerdicts
/// @notice A pool that reverts with this contract's own errors. All that it can have left out is its own leg, which is
/// its to refuse anyway.
contract FakedVerdicts is HostilePoolTest {
    /// @dev Everything behind it had run and is undone: only its own leg is left out, and no one else pays for it.
    function test_a_pool_that_fakes_a_refusal_after_its_callback_loses_only_its_own_leg() public {
        Sweep memory s = _betweenSkippable();
        pool.configure(address(new OtherAmounts(0, 0)), dai, weth, PAYOUT);
        uint256 fair = _fairOutput(s); // of the other two
        bytes memory verdict = abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, 1, 0, 1);
        _configure(new RevertsWith(RevertsWith.Moment.AfterCallback, verdict));
        _sendSkipping(s, 1, ISweepBatch.SkipReason.BelowLeast);
        assertEq(weth.balanceOf(user), fair);
        assertEq(dai.balanceOf(user), AMOUNT);
        assertEq(usdc.balanceOf(user), 0);
        assertEq(usdt.balanceOf(user), 0);
    }

    function test_a_pool_cannot_have_another_leg_left_out() public {
        Sweep memory s = _betweenSkippable();
        (s.route.legs[0].hop, s.route.legs[2].hop) = (s.route.legs[0].hop | SKIPPABLE, s.route.legs[2].hop | SKIPPABLE);
        s.route.maxSkipped = 2;
        _sign(s);
        for (uint256 other = 0; other < 3; other += 2) {
            bytes memory verdict = abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, other, 0, 1);
            _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, verdict));
            _expectRevert(s, _legFailed(1, address(pool), verdict));
            _configure(new RevertsWith(RevertsWith.Moment.AfterCallback, verdict));
            _expectRevert(s, _legFailed(1, address(pool), verdict));
        }
        _expectNothingMoved(s);
    }

    function test_bytes_that_only_begin_like_a_refusal_are_none() public {
        Sweep memory s = _betweenSkippable();
        bytes memory verdict = abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, 1, 0, 1);
        bytes memory longer = bytes.concat(verdict, hex"00");
        _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, longer));
        _expectRevert(s, _legFailed(1, address(pool), longer));
        bytes memory shorter = abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, 1, 0);
        _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, shorter));
        _expectRevert(s, _legFailed(1, address(pool), shorter));
        bytes memory another = abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, 1, 0, 1);
        _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, another));
        _expectRevert(s, _legFailed(1, address(pool), another));
        _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, ""));
        _expectRevert(s, _legFailed(1, address(pool), ""));
    }

    /// @dev An error that says where it happened passes as it is, so a pool can blame another leg for its own failure.
    /// Nothing is left out for it.
    function test_a_pool_that_blames_another_leg_reverts_the_sweep() public {
        Sweep memory s = _betweenSkippable();
        bytes[3] memory faked = [
            _legFailed(2, address(this), "faked"),
            _pullFailed("faked"),
            abi.encodeWithSelector(ISweepBatch.TooManySkipped.selector, 2, 1)
        ];
        for (uint256 i = 0; i < faked.length; ++i) {
            _configure(new RevertsWith(RevertsWith.Moment.AfterCallback, faked[i]));
            _expectRevert(s, faked[i]);
        }
    }

    /// @dev With the words of a V3 pool whose price is at its limit.
    function test_a_pool_that_claims_to_be_at_its_limit_loses_only_its_own_leg() public {
        Sweep memory s = _betweenSkippable();
        for (uint256 i = 0; i < 2; ++i) {
            _configure(new RevertsWith(RevertsWith.Moment(i), _text("SPL")));
            uint256 snapshot = vm.snapshotState();
            _sendSkipping(s, 1, ISweepBatch.SkipReason.NotFilled);
            assertEq(dai.balanceOf(user), AMOUNT);
            assertEq(usdc.balanceOf(user) + usdt.balanceOf(user), 0);
            vm.revertToState(snapshot);
        }
        bytes memory longer = bytes.concat(_text("SPL"), hex"00");
        _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, longer));
        _expectRevert(s, _legFailed(1, address(pool), longer));
    }

    function test_a_v2_pool_has_no_limit_to_be_at() public {
        bytes memory reason = _text("SPL");
        address script = address(new RevertsWith(RevertsWith.Moment.AfterCallback, reason));
        address v2Pool = address(_hostileV2Pool(dai, weth, script, 100e18));
        Sweep memory s =
            _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _skippable(_hostileV2Leg(dai, AMOUNT)))), address(weth));
        s.route.maxSkipped = 1;
        _sign(s);
        _expectRevert(s, _legFailed(1, v2Pool, reason));
    }

    function test_a_pool_that_fakes_a_refusal_of_a_leg_that_must_run_reverts_the_sweep() public {
        bytes memory verdict = abi.encodeWithSelector(ISweepBatch.NotFilled.selector, 1, 0, AMOUNT);
        _configure(new RevertsWith(RevertsWith.Moment.BeforeCallback, verdict));
        _expectRevert(_between(), _legFailed(1, address(pool), verdict));
    }
}
