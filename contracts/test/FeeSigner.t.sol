// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ContractWallet} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title FeeSigner
/// @notice The validity of authorizations during rotation and handover, after revocation, and after cancellation.
contract FeeSigner is SweepTest {
    address private next;
    uint256 private nextKey;

    function setUp() public override {
        super.setUp();
        (next, nextKey) = makeAddrAndKey("next signer");
    }

    function _signedBy(uint256 key) private returns (Sweep memory s) {
        s = _usdcSweep();
        s.authorizationSignature = _signature(key, v5.hashAuthorization(s.authorization));
    }

    function _expectAccepted(uint256 key) private {
        Sweep memory s = _signedBy(key);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertTrue(v5.isNonceUsed(7));
        vm.revertToState(snapshot);
    }

    function _expectRefused(uint256 key) private {
        Sweep memory s = _signedBy(key);
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, v5.feeSigner(), digest));
    }

    // ---------------------------------------------------------------- rotation

    function test_without_a_handover_the_new_signer_replaces_the_old_one_at_once() public {
        vm.expectEmit(address(v5));
        emit IV5.FeeSignerChanged(signer, next, block.timestamp);
        v5.setFeeSigner(next, 0);
        assertEq(v5.feeSigner(), next);
        _expectAccepted(nextKey);
        _expectRefused(signerKey);
    }

    function test_both_signers_are_valid_during_the_handover() public {
        uint256 end = block.timestamp + 1 hours;
        vm.expectEmit(address(v5));
        emit IV5.FeeSignerChanged(signer, next, end);
        v5.setFeeSigner(next, 1 hours);
        (address previous, uint64 goodUntil) = v5.previousFeeSigner();
        assertEq(previous, signer);
        assertEq(goodUntil, end);
        _expectAccepted(nextKey);
        _expectAccepted(signerKey);
        vm.warp(end - 1);
        _expectAccepted(signerKey);
        vm.warp(end);
        _expectRefused(signerKey);
        _expectAccepted(nextKey);
    }

    function test_the_first_signer_has_no_predecessor() public {
        bytes memory arguments = abi.encode(address(manager), PERMIT2, address(weth), signer);
        vm.expectEmit();
        emit IV5.FeeSignerChanged(address(0), signer, block.timestamp);
        IV5 fresh = IV5(deployCode(_artifact("ServiceBatchV5PartnerFees"), arguments));
        assertEq(fresh.feeSigner(), signer);
        (address previous, uint64 goodUntil) = fresh.previousFeeSigner();
        assertEq(previous, address(0));
        assertEq(goodUntil, block.timestamp);
    }

    /// @dev From 2106 on, timestamps don't fit in 32 bits.
    function test_a_handover_works_after_the_year_2106() public {
        vm.warp(1 << 33);
        v5.setFeeSigner(next, 1 hours);
        (, uint64 goodUntil) = v5.previousFeeSigner();
        assertEq(goodUntil, (1 << 33) + 1 hours);
        _expectAccepted(signerKey);
    }

    function test_a_handover_can_last_one_day_at_most() public {
        uint256 snapshot = vm.snapshotState();
        v5.setFeeSigner(next, 1 days);
        vm.revertToState(snapshot);
        vm.expectRevert(abi.encodeWithSelector(IV5.HandoverTooLong.selector, 1 days + 1, 1 days));
        v5.setFeeSigner(next, 1 days + 1);
    }

    function test_only_one_previous_signer_stays_valid() public {
        (address third, uint256 thirdKey) = makeAddrAndKey("third signer");
        v5.setFeeSigner(next, 1 days);
        v5.setFeeSigner(third, 1 days);
        _expectAccepted(thirdKey);
        _expectAccepted(nextKey);
        _expectRefused(signerKey);
    }

    function test_a_previous_contract_signer_is_valid_during_the_handover() public {
        v5.setFeeSigner(address(new ContractWallet(false)), 0);
        v5.setFeeSigner(next, 1 hours);
        Sweep memory s = _usdcSweep();
        s.authorizationSignature = "anything it accepts";
        _send(s);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_a_fee_signer_that_delegates_to_code_can_sign_with_its_key() public {
        Sweep memory s = _usdcSweep();
        vm.etch(signer, abi.encodePacked(hex"ef0100", address(router)));
        _send(s);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_the_new_fee_signer_must_not_be_zero() public {
        vm.expectRevert(IV5.ZeroFeeSigner.selector);
        v5.setFeeSigner(address(0), 0);
    }

    // ---------------------------------------------------------------- revocation

    function test_signatures_of_a_revoked_signer_are_refused() public {
        vm.expectEmit(address(v5));
        emit IV5.FeeSignerRevoked(signer);
        v5.revokeFeeSigner(signer);
        assertEq(v5.feeSigner(), address(0));
        _expectRefused(signerKey);
        v5.setFeeSigner(next, 1 days); // does not make it valid again as the previous signer
        _expectRefused(signerKey);
        _expectAccepted(nextKey);
    }

    function test_revoking_the_previous_signer_keeps_the_current_one() public {
        v5.setFeeSigner(next, 1 days);
        v5.revokeFeeSigner(signer);
        (address previous, uint64 goodUntil) = v5.previousFeeSigner();
        assertEq(previous, address(0));
        assertEq(goodUntil, 0);
        _expectRefused(signerKey);
        _expectAccepted(nextKey);
    }

    function test_revoking_the_current_signer_keeps_the_previous_one() public {
        v5.setFeeSigner(next, 1 days);
        v5.revokeFeeSigner(next);
        _expectRefused(nextKey);
        _expectAccepted(signerKey);
    }

    function test_a_signer_that_is_both_current_and_previous_is_revoked_as_both() public {
        v5.setFeeSigner(signer, 1 days);
        v5.revokeFeeSigner(signer);
        _expectRefused(signerKey);
    }

    function test_only_a_fee_signer_can_be_revoked() public {
        vm.expectRevert(abi.encodeWithSelector(IV5.NotAFeeSigner.selector, next));
        v5.revokeFeeSigner(next);
        v5.revokeFeeSigner(signer);
        vm.expectRevert(abi.encodeWithSelector(IV5.NotAFeeSigner.selector, signer));
        v5.revokeFeeSigner(signer);
        vm.expectRevert(abi.encodeWithSelector(IV5.NotAFeeSigner.selector, address(0)));
        v5.revokeFeeSigner(address(0));
    }

    function test_an_invalid_signature_is_refused_while_there_is_no_signer() public {
        v5.revokeFeeSigner(signer);
        Sweep memory s = _usdcSweep();
        bytes32 digest = v5.hashAuthorization(s.authorization);
        bytes memory expected = abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, address(0), digest);
        s.authorizationSignature = new bytes(65); // recovers zero
        _expectRevert(s, expected);
        v5.setFeeSigner(next, 1 days); // now the previous signer is zero
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, next, digest));
    }

    // ---------------------------------------------------------------- cancellation

    function test_the_fee_signer_can_cancel_an_authorization() public {
        Sweep memory s = _usdcSweep();
        vm.expectEmit(address(v5));
        emit IV5.AuthorizationCancelled(7, signer);
        vm.prank(signer);
        v5.cancelAuthorization(7);
        assertTrue(v5.isNonceUsed(7));
        assertFalse(v5.isNonceUsed(8));
        _expectRevert(s, abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 7));
    }

    function test_a_used_or_cancelled_nonce_cannot_be_cancelled() public {
        _send(_usdcSweep());
        bytes memory expected = abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 7);
        vm.expectRevert(expected);
        v5.cancelAuthorization(7);
        v5.cancelAuthorization(8);
        vm.expectRevert(abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 8));
        v5.cancelAuthorization(8);
    }

    function test_cancelling_works_while_paused() public {
        v5.pause();
        v5.cancelAuthorization(type(uint256).max);
        assertTrue(v5.isNonceUsed(type(uint256).max));
    }
}
