// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ContractWallet} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title FeeSigner
/// @notice Whose authorizations count, through rotation, handover and revocation, and that a cancelled one never does.
contract FeeSigner is SweepTest {
    address private next;
    uint256 private nextKey;

    function setUp() public override {
        super.setUp();
        (next, nextKey) = makeAddrAndKey("next signer");
    }

    function _signedBy(uint256 key) private returns (Sweep memory s) {
        s = _usdcSweep(APPROVED);
        s.authorizationSignature = _signature(key, v5.hashAuthorization(s.authorization));
    }

    function _expectCounts(uint256 key) private {
        Sweep memory s = _signedBy(key);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertTrue(v5.isNonceUsed(7));
        vm.revertToState(snapshot);
    }

    function _expectWorthless(uint256 key) private {
        Sweep memory s = _signedBy(key);
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, v5.feeSigner(), digest));
    }

    // ---------------------------------------------------------------- rotation

    function test_without_handover_a_new_signer_replaces_the_old_one_at_once() public {
        vm.expectEmit(address(v5));
        emit IV5.FeeSignerChanged(signer, next, block.timestamp);
        v5.setFeeSigner(next, 0);
        assertEq(v5.feeSigner(), next);
        _expectCounts(nextKey);
        _expectWorthless(signerKey);
    }

    function test_during_the_handover_both_signers_count() public {
        uint256 end = block.timestamp + 1 hours;
        vm.expectEmit(address(v5));
        emit IV5.FeeSignerChanged(signer, next, end);
        v5.setFeeSigner(next, 1 hours);
        (address previous, uint64 goodUntil) = v5.previousFeeSigner();
        assertEq(previous, signer);
        assertEq(goodUntil, end);
        _expectCounts(nextKey);
        _expectCounts(signerKey);
        vm.warp(end - 1);
        _expectCounts(signerKey);
        vm.warp(end);
        _expectWorthless(signerKey);
        _expectCounts(nextKey);
    }

    function test_the_first_signer_follows_nobody() public {
        bytes memory arguments = abi.encode(address(manager), PERMIT2, address(weth), signer);
        vm.expectEmit();
        emit IV5.FeeSignerChanged(address(0), signer, block.timestamp);
        IV5 fresh = IV5(deployCode(_built("ServiceBatchV5PartnerFees"), arguments));
        assertEq(fresh.feeSigner(), signer);
        (address previous, uint64 goodUntil) = fresh.previousFeeSigner();
        assertEq(previous, address(0));
        assertEq(goodUntil, block.timestamp);
    }

    /// @dev After 2106 seconds do not fit 32 bits any more.
    function test_a_handover_ends_in_time_in_any_century() public {
        vm.warp(1 << 33);
        v5.setFeeSigner(next, 1 hours);
        (, uint64 goodUntil) = v5.previousFeeSigner();
        assertEq(goodUntil, (1 << 33) + 1 hours);
        _expectCounts(signerKey);
    }

    function test_a_handover_lasts_a_day_at_most() public {
        assertEq(v5.MAX_HANDOVER_SECONDS(), 1 days);
        uint256 snapshot = vm.snapshotState();
        v5.setFeeSigner(next, 1 days);
        vm.revertToState(snapshot);
        vm.expectRevert(abi.encodeWithSelector(IV5.HandoverTooLong.selector, 1 days + 1, 1 days));
        v5.setFeeSigner(next, 1 days + 1);
    }

    function test_only_one_signer_before_is_remembered() public {
        (address third, uint256 thirdKey) = makeAddrAndKey("third signer");
        v5.setFeeSigner(next, 1 days);
        v5.setFeeSigner(third, 1 days);
        _expectCounts(thirdKey);
        _expectCounts(nextKey);
        _expectWorthless(signerKey);
    }

    function test_a_contract_signer_counts_during_its_handover() public {
        v5.setFeeSigner(address(new ContractWallet(false)), 0);
        v5.setFeeSigner(next, 1 hours);
        Sweep memory s = _usdcSweep(APPROVED);
        s.authorizationSignature = "anything it accepts";
        _send(s);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_a_signer_whose_key_delegates_to_code_still_signs() public {
        Sweep memory s = _usdcSweep(APPROVED);
        vm.etch(signer, abi.encodePacked(hex"ef0100", address(router)));
        _send(s);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_a_new_signer_is_somebody() public {
        vm.expectRevert(IV5.ZeroFeeSigner.selector);
        v5.setFeeSigner(address(0), 0);
    }

    // ---------------------------------------------------------------- revocation

    function test_a_revoked_signer_is_worth_nothing() public {
        vm.expectEmit(address(v5));
        emit IV5.FeeSignerRevoked(signer);
        v5.revokeFeeSigner(signer);
        assertEq(v5.feeSigner(), address(0));
        _expectWorthless(signerKey);
        v5.setFeeSigner(next, 1 days); // does not bring it back as the one before
        _expectWorthless(signerKey);
        _expectCounts(nextKey);
    }

    function test_the_previous_signer_is_revoked_alone() public {
        v5.setFeeSigner(next, 1 days);
        v5.revokeFeeSigner(signer);
        (address previous, uint64 goodUntil) = v5.previousFeeSigner();
        assertEq(previous, address(0));
        assertEq(goodUntil, 0);
        _expectWorthless(signerKey);
        _expectCounts(nextKey);
    }

    function test_the_current_signer_is_revoked_alone() public {
        v5.setFeeSigner(next, 1 days);
        v5.revokeFeeSigner(next);
        _expectWorthless(nextKey);
        _expectCounts(signerKey);
    }

    function test_a_signer_that_followed_itself_is_revoked_wholly() public {
        v5.setFeeSigner(signer, 1 days);
        v5.revokeFeeSigner(signer);
        _expectWorthless(signerKey);
    }

    function test_only_a_signer_is_revoked() public {
        vm.expectRevert(abi.encodeWithSelector(IV5.NotAFeeSigner.selector, next));
        v5.revokeFeeSigner(next);
        v5.revokeFeeSigner(signer);
        vm.expectRevert(abi.encodeWithSelector(IV5.NotAFeeSigner.selector, signer));
        v5.revokeFeeSigner(signer);
        vm.expectRevert(abi.encodeWithSelector(IV5.NotAFeeSigner.selector, address(0)));
        v5.revokeFeeSigner(address(0));
    }

    function test_a_bad_signature_is_nobodys_even_without_a_signer() public {
        v5.revokeFeeSigner(signer);
        Sweep memory s = _usdcSweep(APPROVED);
        bytes32 digest = v5.hashAuthorization(s.authorization);
        bytes memory expected = abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, address(0), digest);
        s.authorizationSignature = new bytes(65); // recovers nobody
        _expectRevert(s, expected);
        v5.setFeeSigner(next, 1 days); // now nobody is the signer before
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, next, digest));
    }

    // ---------------------------------------------------------------- cancellation

    function test_the_fee_signer_cancels_what_it_signed() public {
        Sweep memory s = _usdcSweep(APPROVED);
        vm.expectEmit(address(v5));
        emit IV5.AuthorizationCancelled(7, signer);
        vm.prank(signer);
        v5.cancelAuthorization(7);
        assertTrue(v5.isNonceUsed(7));
        assertFalse(v5.isNonceUsed(8));
        _expectRevert(s, abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 7));
    }

    function test_what_ran_or_was_cancelled_is_not_cancelled_again() public {
        _send(_usdcSweep(APPROVED));
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
