// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {CallbackRecipient, CallbackToken, RejectingRecipient} from "./support/Hostile.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";

/// @title ServiceBatchV4Test
/// @notice The fallback: only the user signs, there is one configured fee, and a reference can be used once per user.
/// What it shares with V5 is tested there.
contract ServiceBatchV4Test is SweepV4Test {
    uint256 private constant V3_HOP = uint256(V3) << 24 | POOL_FEE;

    // ---------------------------------------------------------------- the sweep

    function test_the_fee_goes_to_the_recipient_and_the_rest_to_the_user() public {
        ISweepBatch.RouterCall memory call = _v3Call(0, usdc, address(weth), 1_000e6, address(v4));
        _expectPaid(_usdcSweepV4(), 0.49e18);
        _expectPaid(_sweepV4(_route(_legs(_v2Leg(usdc, 1_000e6))), address(weth)), 0.49e18);
        _expectPaid(_sweepV4(_routerRoute(_leg(usdc, 1_000e6, 0), call), address(weth)), 0.49e18);
        ISweepBatch.Leg[] memory joined = _legs(_joinedLeg(usdc, 1_000e6), _leg(weth, 1e18, JOINED));
        _expectPaid(_sweepV4(_joinedRoute(joined, V3_HOP), address(dai)), 2_950e18);
        _expectPaid(_sweepV4(_joinedRoute(joined, _hop(V2, 0)), address(dai)), 2_950e18);
    }

    function _expectPaid(SweepV4 memory s, uint256 least) private {
        uint256 snapshot = vm.snapshotState();
        IERC20 output = IERC20(s.order.outputToken);
        (uint256 userBefore, uint256 protocolBefore) = (output.balanceOf(user), output.balanceOf(protocol));
        _sendV4(s);
        uint256 fee = output.balanceOf(protocol) - protocolBefore;
        uint256 gross = output.balanceOf(user) - userBefore + fee;
        assertGt(gross, least);
        assertEq(fee, gross * 75 / 10_000);
        assertEq(output.balanceOf(partner), 0);
        assertEq(output.balanceOf(address(v4)) + weth.balanceOf(address(v4)) + usdc.balanceOf(address(v4)), 0);
        assertEq(usdc.allowance(address(v4), address(router)), 0);
        vm.revertToState(snapshot);
    }

    /// @dev The reference of the sweep identifies it, as the nonce does on V5.
    function test_legs_are_skipped_and_dropped() public {
        ISweepBatch.Leg memory skipped = _leg(wbtc, 1_000e8, V3_HOP | SKIPPABLE);
        skipped.floor = 1e18;
        ISweepBatch.Route memory route = _route(_legs(_v3Leg(usdc, 1_000e6), skipped, _leg(dai, 1e18, DROPPED)));
        route.maxSkipped = 2;
        SweepV4 memory s = _sweepV4(route, address(weth));
        vm.expectEmit(address(v4));
        emit ISweepBatch.LegSkipped(uint256(REF), 2, address(dai), ISweepBatch.SkipReason.Dropped);
        vm.expectEmit(address(v4));
        emit ISweepBatch.LegSkipped(uint256(REF), 1, address(wbtc), ISweepBatch.SkipReason.BelowLeast);
        _sendV4(s);
        assertEq(wbtc.balanceOf(user), 1_000e8);
        assertEq(dai.balanceOf(user), 1e18);
        assertEq(usdc.balanceOf(user), 0);
    }

    function test_the_sender_can_agree_by_calling() public {
        SweepV4 memory s = _usdcSweepV4();
        vm.startPrank(user);
        usdc.approve(address(v4), 1_000e6);
        v4.sweepAsCaller(s.route, s.order);
        vm.stopPrank();
        assertGt(weth.balanceOf(user), 0.49e18);
        assertTrue(v4.isSweepRefUsed(user, REF));
    }

    function test_the_event_states_what_was_paid() public {
        SweepV4 memory s = _sweepV4(_route(_legs(_wethLeg(2e18))), NATIVE);
        vm.expectEmit(address(v4));
        emit IV4.SweepExecutedV4(REF, user, NATIVE, 1, 2e18, 0.015e18, 1.985e18);
        _sendV4(s);
        assertEq(user.balance, 1.985e18);
        assertEq(protocol.balance, 0.015e18);
    }

    function test_without_a_fee_the_user_receives_everything() public {
        v4.setFee(0, address(0));
        SweepV4 memory s = _usdcSweepV4();
        s.order.feeBps = 0;
        _signV4(s);
        _sendV4(s);
        assertGt(weth.balanceOf(user), 0.49e18);
        assertEq(weth.balanceOf(protocol), 0);
    }

    function test_a_fee_recipient_that_rejects_the_native_coin_is_paid_wrapped() public {
        address rejecting = address(new RejectingRecipient());
        v4.setFee(75, rejecting);
        SweepV4 memory s = _sweepV4(_route(_legs(_wethLeg(2e18))), NATIVE);
        vm.expectEmit(address(v4));
        emit ISweepBatch.PaidWrapped(rejecting, 0.015e18);
        _sendV4(s);
        assertEq(weth.balanceOf(rejecting), 0.015e18);
    }

    /// @dev Accepted for the fallback: the service does not sign the route. The user still receives the signed floors.
    function test_a_frontend_can_avoid_the_fee_but_not_the_users_floors() public {
        ISweepBatch.Route memory route =
            _routerRoute(_leg(dai, 1_000e18, 0), _v3Call(0, dai, address(weth), 1_000e18, user));
        route.legs[0].floor = 0; // a user who signed this agreed to receive nothing through the contract
        uint256 snapshot = vm.snapshotState();
        _sendV4(_sweepV4(route, address(weth)));
        assertEq(weth.balanceOf(protocol), 0);
        assertGt(weth.balanceOf(user), 0.49e18);
        vm.revertToState(snapshot);

        route.legs[0].floor = 0.4e18;
        uint256 least = (uint256(0.4e18) * 10_000 + 9_924) / 9_925;
        _expectRevertV4(_sweepV4(route, address(weth)), _belowLeast(0, 0, least));
    }

    // ---------------------------------------------------------------- what the user signed

    function test_a_reference_can_be_used_once_per_user() public {
        SweepV4 memory s = _usdcSweepV4();
        assertFalse(v4.isSweepRefUsed(user, REF));
        _sendV4(s);
        assertTrue(v4.isSweepRefUsed(user, REF));
        assertFalse(v4.isSweepRefUsed(partner, REF));
        s = _usdcSweepV4();
        s.permitNonce = 12;
        _signV4(s);
        _expectRevertV4(s, abi.encodeWithSelector(IV4.SweepRefAlreadyUsed.selector, user, REF));
        s.order.sweepRef = keccak256("another sweep");
        _signV4(s);
        _sendV4(s);
    }

    function test_an_order_with_another_fee_is_refused() public {
        SweepV4 memory s = _usdcSweepV4();
        v4.setFee(76, protocol);
        _expectRevertV4(s, abi.encodeWithSelector(IV4.FeeMismatch.selector, 75, 76));
    }

    function test_every_field_of_the_order_is_signed() public {
        for (uint256 i = 0; i < 4; ++i) {
            SweepV4 memory s = _usdcSweepV4();
            if (i == 0) s.order.outputToken = NATIVE;
            if (i == 1) s.route.legs[0].floor = 0;
            if (i == 2) s.order.sweepRef = keccak256("another sweep");
            if (i == 3) s.route.maxSkipped = 1;
            _expectRevertV4(s, _pullFailed(INVALID_SIGNER));
        }
    }

    function test_only_the_sender_is_debited() public {
        SweepV4 memory s = _usdcSweepV4();
        vm.prank(partner);
        vm.expectRevert(_pullFailed(INVALID_SIGNER));
        v4.sweep(s.route, s.order, s.permitNonce, s.permitDeadline, s.permitSignature);
    }

    function test_the_floors_apply() public {
        SweepV4 memory s = _sweepV4(_route(_legs(_wethLeg(2e18))), NATIVE);
        s.route.legs[0].floor = 1.985e18 + 1;
        _signV4(s);
        _expectRevertV4(s, _belowLeast(0, 2e18, 2e18 + 2));
    }

    function test_a_pool_leg_below_its_floor_fails() public {
        SweepV4 memory s = _usdcSweepV4();
        s.route.legs[0].floor = 1e18;
        _signV4(s);
        uint256 snapshot = vm.snapshotState();
        _send(_usdcSweep());
        uint256 gross = weth.balanceOf(user) + weth.balanceOf(partner) + weth.balanceOf(protocol);
        vm.revertToState(snapshot);
        uint256 least = (uint256(1e18) * 10_000 + 9_924) / 9_925;
        _expectRevertV4(s, _legFailed(0, _pool(V3, usdc), _belowLeast(0, gross, least)));
    }

    function test_the_user_must_have_signed_the_tokens_and_amounts() public {
        SweepV4 memory s = _usdcSweepV4();
        s.route.legs[0].amount -= 1;
        _expectRevertV4(s, _pullFailed(INVALID_SIGNER));
        s.route.legs[0] = _v3Leg(dai, 1_000e6);
        _expectRevertV4(s, _pullFailed(INVALID_SIGNER));
    }

    // ---------------------------------------------------------------- administration

    function test_setting_the_fee_emits_an_event() public {
        vm.expectEmit(address(v4));
        emit IV4.FeeChanged(300, partner);
        v4.setFee(300, partner);
        assertEq(v4.feeBps(), 300);
        assertEq(v4.feeRecipient(), partner);
    }

    function test_the_fee_is_capped_and_needs_a_valid_recipient() public {
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.TotalFeeAboveCap.selector, 301, 300));
        v4.setFee(301, protocol);
        address[3] memory nowhere = [address(0), address(v4), address(weth)];
        for (uint256 i = 0; i < nowhere.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, nowhere[i]));
            v4.setFee(1, nowhere[i]);
        }
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.TotalFeeAboveCap.selector, 301, 300));
        deployCode(_artifact("ServiceBatchV4"), abi.encode(manager, PERMIT2, weth, uint16(301), protocol));
    }

    function test_a_stranger_cannot_set_the_fee() public {
        vm.prank(user);
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, user));
        v4.setFee(0, user);
    }

    function test_tokens_and_recipients_cannot_reenter() public {
        CallbackToken callbackToken = new CallbackToken();
        _addPools(callbackToken, 1e24);
        manager.grantRole(0, address(callbackToken), 0);
        SweepV4 memory s = _sweepV4(_route(_legs(_v3Leg(callbackToken, 1e18))), address(weth));
        callbackToken.arm(address(v4), abi.encodeCall(v4.setFee, (0, address(0))));
        _sendV4(s);
        assertTrue(callbackToken.called());
        assertEq(
            callbackToken.response(),
            abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)
        );
        assertEq(v4.feeBps(), 75);
    }

    // ---------------------------------------------------------------- V4 and V5 side by side

    /// @dev The witness types differ, so a signature for one contract is not valid for the other.
    function test_a_permit_for_one_contract_is_refused_by_the_other() public {
        SweepV4 memory s = _usdcSweepV4();
        Sweep memory v5Sweep = _usdcSweep();
        v5Sweep.permitSignature = s.permitSignature;
        _expectRevert(v5Sweep, _pullFailed(INVALID_SIGNER));
        s.permitSignature = _usdcSweep().permitSignature;
        _expectRevertV4(s, _pullFailed(INVALID_SIGNER));
    }

    function test_sweeps_of_every_kind_revert_while_paused() public {
        SweepV4 memory s = _usdcSweepV4();
        v4.pause();
        bytes memory expected = abi.encodeWithSelector(Pausable.EnforcedPause.selector);
        _expectRevertV4(s, expected);
        vm.startPrank(user);
        vm.expectRevert(expected);
        v4.sweepAsCaller(s.route, s.order);
        vm.expectRevert(expected);
        v4.sweepWithPermits(
            s.route, s.order, new ISweepBatch.TokenPermit[](0), s.permitNonce, s.permitDeadline, s.permitSignature
        );
        vm.stopPrank();
        v4.unpause();
        _sendV4(s);
    }
}
