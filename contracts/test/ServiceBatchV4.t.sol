// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {CallingRecipient, CallingToken, RefusingRecipient} from "./support/Hostile.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";

/// @title ServiceBatchV4Test
/// @notice The rollback path: the user's word alone, one configured fee, one sweep a reference and user. What it shares with V5
/// is tested there.
contract ServiceBatchV4Test is SweepV4Test {
    bytes4 private constant INVALID_SIGNER = bytes4(keccak256("InvalidSigner()"));

    // ---------------------------------------------------------------- the sweep

    function test_one_fee_goes_to_the_recipient_and_the_rest_to_the_user() public {
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            uint256 snapshot = vm.snapshotState();
            SweepV4 memory s = _usdcSweepV4(funding);
            _sendV4(s);
            uint256 gross = weth.balanceOf(user) + weth.balanceOf(protocol);
            assertGt(gross, 0.49e18);
            assertEq(weth.balanceOf(protocol), gross * 75 / 10_000);
            assertEq(weth.balanceOf(partner), 0);
            assertEq(weth.balanceOf(address(v4)) + usdc.balanceOf(address(v4)), 0);
            assertEq(usdc.allowance(address(v4), address(router)), 0);
            vm.revertToState(snapshot);
        }
    }

    function test_the_event_tells_what_was_paid() public {
        ISweepBatch.Leg[] memory legs = _legs(_wethLeg(2e18));
        SweepV4 memory s = _sweepV4(legs, NATIVE);
        vm.expectEmit(address(v4));
        emit IV4.SweepExecutedV4(REF, user, NATIVE, 1, 2e18, 0.015e18, 1.985e18);
        _sendV4(s);
        assertEq(user.balance, 1.985e18);
        assertEq(protocol.balance, 0.015e18);
    }

    function test_without_a_fee_the_user_gets_everything() public {
        v4.setFee(0, address(0));
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        s.order.feeBps = 0;
        _signV4(s);
        _sendV4(s);
        assertGt(weth.balanceOf(user), 0.49e18);
        assertEq(weth.balanceOf(protocol), 0);
    }

    function test_a_fee_recipient_that_does_not_take_coin_is_paid_wrapped() public {
        address refusing = address(new RefusingRecipient());
        v4.setFee(75, refusing);
        SweepV4 memory s = _sweepV4(_legs(_wethLeg(2e18)), NATIVE);
        vm.expectEmit(address(v4));
        emit ISweepBatch.PaidWrapped(refusing, 0.015e18);
        _sendV4(s);
        assertEq(weth.balanceOf(refusing), 0.015e18);
    }

    /// @dev Accepted for the rollback path: no service signs the route. The user still gets what was signed.
    function test_a_page_can_route_around_the_fee_but_not_around_the_user() public {
        ISweepBatch.Leg[] memory legs = _legs(
            _v3LegTo(usdc, address(weth), 1e6, APPROVED, address(v4)),
            _v3LegTo(dai, address(weth), 1_000e18, APPROVED, user)
        );
        SweepV4 memory s = _sweepV4(legs, address(weth));
        uint256 snapshot = vm.snapshotState();
        _sendV4(s);
        assertLt(weth.balanceOf(protocol), 1e13);
        assertGt(weth.balanceOf(user), 0.49e18);
        vm.revertToState(snapshot);

        s.order.minUserOutput = 0.4e18; // what came past the contract does not count
        _signV4(s);
        vm.expectRevert();
        _sendV4(s);
    }

    // ---------------------------------------------------------------- what the user signed

    function test_a_reference_runs_once_for_its_user() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        assertFalse(v4.isSweepRefUsed(user, REF));
        _sendV4(s);
        assertTrue(v4.isSweepRefUsed(user, REF));
        assertFalse(v4.isSweepRefUsed(partner, REF));
        s = _usdcSweepV4(APPROVED);
        s.permitNonce = 12;
        _signV4(s);
        _expectRevertV4(s, abi.encodeWithSelector(IV4.SweepRefAlreadyUsed.selector, user, REF));
        s.order.sweepRef = keccak256("another sweep");
        _signV4(s);
        _sendV4(s);
    }

    function test_the_fee_is_the_configured_one() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        v4.setFee(76, protocol);
        _expectRevertV4(s, abi.encodeWithSelector(IV4.FeeMismatch.selector, 75, 76));
    }

    function test_every_word_of_the_order_is_signed() public {
        for (uint256 i = 0; i < 3; ++i) {
            SweepV4 memory s = _usdcSweepV4(APPROVED);
            if (i == 0) s.order.outputToken = address(dai);
            if (i == 1) s.order.minUserOutput = 0;
            if (i == 2) s.order.sweepRef = keccak256("another sweep");
            _expectRevertV4(s, abi.encodeWithSelector(INVALID_SIGNER));
        }
    }

    function test_only_the_sender_is_debited() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        vm.prank(partner);
        vm.expectRevert(INVALID_SIGNER);
        v4.sweep(s.legs, s.order, s.permitNonce, s.permitDeadline, s.permitSignature);
    }

    function test_the_minimum_holds() public {
        SweepV4 memory s = _sweepV4(_legs(_wethLeg(2e18)), NATIVE);
        s.order.minUserOutput = 1.985e18 + 1;
        _signV4(s);
        _expectRevertV4(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, 1.985e18, 1.985e18 + 1));
    }

    // ---------------------------------------------------------------- administration

    function test_nothing_is_swept_while_paused() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        v4.pause();
        _expectRevertV4(s, abi.encodeWithSelector(Pausable.EnforcedPause.selector));
    }

    function test_setting_the_fee_is_told() public {
        vm.expectEmit(address(v4));
        emit IV4.FeeChanged(300, partner);
        v4.setFee(300, partner);
        assertEq(v4.feeBps(), 300);
        assertEq(v4.feeRecipient(), partner);
    }

    function test_the_fee_has_a_cap_and_a_recipient() public {
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.TotalFeeAboveCap.selector, 301, 300));
        v4.setFee(301, protocol);
        address[3] memory nowhere = [address(0), address(v4), address(weth)];
        for (uint256 i = 0; i < nowhere.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, nowhere[i]));
            v4.setFee(1, nowhere[i]);
        }
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.TotalFeeAboveCap.selector, 301, 300));
        deployCode(_built("ServiceBatchV4"), abi.encode(manager, PERMIT2, weth, uint16(301), protocol));
    }

    function test_a_stranger_sets_no_fee() public {
        vm.prank(user);
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, user));
        v4.setFee(0, user);
    }

    function test_a_token_or_recipient_cannot_enter_again() public {
        CallingToken calling = new CallingToken();
        _addPools(calling, 1e24);
        manager.grantRole(0, address(calling), 0);
        SweepV4 memory s = _sweepV4(_legs(_v3LegTo(calling, address(weth), 1e18, APPROVED, address(v4))), address(weth));
        calling.arm(address(v4), abi.encodeCall(v4.setFee, (0, address(0))));
        _sendV4(s);
        assertTrue(calling.called());
        assertEq(
            calling.answer(), abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)
        );
        assertEq(v4.feeBps(), 75);
    }

    // ---------------------------------------------------------------- beside V5

    /// @dev One witness type cannot stand for the other's, so neither contract's signature serves the other.
    function test_the_signature_for_one_contract_is_nothing_to_the_other() public {
        assertTrue(keccak256(bytes(v4.WITNESS_TYPE_STRING())) != keccak256(bytes(v5.WITNESS_TYPE_STRING())));
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        Sweep memory five = _usdcSweep(APPROVED);
        five.permitSignature = s.permitSignature;
        _expectRevert(five, abi.encodeWithSelector(INVALID_SIGNER));
        s.permitSignature = _usdcSweep(APPROVED).permitSignature;
        _expectRevertV4(s, abi.encodeWithSelector(INVALID_SIGNER));
    }

    function test_the_witness_is_the_struct_hash_of_the_order() public view {
        IV4.SweepOrderV4 memory order = IV4.SweepOrderV4(address(weth), 5, 75, REF);
        bytes32 typehash =
            keccak256("SweepOrderV4(address outputToken,uint256 minUserOutput,uint16 feeBps,bytes32 sweepRef)");
        assertEq(v4.hashOrder(order), keccak256(abi.encode(typehash, address(weth), 5, 75, REF)));
    }
}
