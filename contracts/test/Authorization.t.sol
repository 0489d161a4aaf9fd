// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ContractWallet, DenyingSigner} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Authorization
/// @notice What the service and the user signed is what runs, and nothing else does: each check of it, and its error. Signatures
/// in other forms, deadlines to the second and other chains are in BadInput.t.sol.
contract Authorization is SweepTest {
    function test_the_fee_signer_must_have_signed() public {
        Sweep memory s = _usdcSweep(APPROVED);
        (, uint256 strangerKey) = makeAddrAndKey("stranger");
        bytes32 digest = v5.hashAuthorization(s.authorization);
        s.authorizationSignature = _signature(strangerKey, digest);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
    }

    function test_a_changed_field_voids_the_signature() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.authorization.partnerRecipient = makeAddr("thief");
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
    }

    function test_a_contract_signs_as_fee_signer_by_eip1271() public {
        v5.setFeeSigner(address(new ContractWallet(false)), 0);
        Sweep memory s = _usdcSweep(APPROVED);
        s.authorizationSignature = "anything it accepts";
        _send(s);
        assertTrue(v5.isNonceUsed(s.authorization.nonce));
    }

    function test_a_contract_that_denies_is_no_fee_signer() public {
        address denying = address(new DenyingSigner());
        v5.setFeeSigner(denying, 0);
        Sweep memory s = _usdcSweep(APPROVED);
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, denying, digest));
    }

    function test_only_the_authorized_user_can_send() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.sender = makeAddr("stranger");
        _expectRevert(s, abi.encodeWithSelector(IV5.WrongUser.selector, user, s.sender));
    }

    function test_the_deadline_is_the_last_good_second() public {
        Sweep memory s = _usdcSweep(APPROVED);
        uint256 deadline = s.authorization.deadline;
        uint256 snapshot = vm.snapshotState();
        vm.warp(deadline);
        _send(s);
        vm.revertToState(snapshot);
        vm.warp(deadline + 1);
        _expectRevert(s, abi.encodeWithSelector(IV5.AuthorizationExpired.selector, deadline, deadline + 1));
    }

    function test_a_nonce_runs_once() public {
        Sweep memory s = _usdcSweep(APPROVED);
        assertFalse(v5.isNonceUsed(7));
        _send(s);
        assertTrue(v5.isNonceUsed(7));
        assertFalse(v5.isNonceUsed(6));
        assertFalse(v5.isNonceUsed(8));
        assertFalse(v5.isNonceUsed(7 + 256));
        _expectRevert(s, abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 7));
    }

    function test_nonces_at_the_borders_of_words_are_their_own() public {
        uint256[4] memory nonces = [uint256(0), 255, 256, type(uint256).max];
        for (uint256 i = 0; i < nonces.length; ++i) {
            Sweep memory s = _usdcSweep(APPROVED);
            (s.order.authorizationNonce, s.authorization.nonce, s.permitNonce) = (nonces[i], nonces[i], i);
            _sign(s);
            assertFalse(v5.isNonceUsed(nonces[i]));
            _send(s);
            for (uint256 j = 0; j < nonces.length; ++j) {
                assertEq(v5.isNonceUsed(nonces[j]), j <= i);
            }
        }
    }

    function test_any_other_byte_in_a_leg_is_another_route() public {
        Sweep memory s = _usdcSweep(APPROVED);
        bytes32 signed = s.authorization.legsHash;
        s.legs[0].data[200] ^= 0x01;
        bytes32 sent = keccak256(abi.encode(s.legs));
        _expectRevert(s, abi.encodeWithSelector(IV5.LegsHashMismatch.selector, signed, sent));
    }

    function test_user_and_service_must_agree_on_the_output() public {
        Sweep memory s = _usdcSweep(APPROVED);
        address signed = s.authorization.outputToken;
        for (uint160 i = 0; i < 2; ++i) {
            s.order.outputToken = address(uint160(signed) - 1 + 2 * i); // once less and once more, here and below
            _sign(s);
            _expectRevert(s, abi.encodeWithSelector(IV5.OutputTokenMismatch.selector, s.order.outputToken, signed));
        }
    }

    function test_user_and_service_must_agree_on_the_fee() public {
        Sweep memory s = _usdcSweep(APPROVED);
        for (uint16 i = 0; i < 2; ++i) {
            s.order.totalFeeBps = 74 + 2 * i;
            _sign(s);
            _expectRevert(s, abi.encodeWithSelector(IV5.TotalFeeMismatch.selector, s.order.totalFeeBps, 75));
        }
    }

    function test_user_and_service_must_agree_on_the_partner() public {
        Sweep memory s = _usdcSweep(APPROVED);
        for (uint256 i = 0; i < 2; ++i) {
            s.order.partnerId = bytes32(uint256(PARTNER_ID) - 1 + 2 * i);
            _sign(s);
            _expectRevert(s, abi.encodeWithSelector(IV5.PartnerMismatch.selector, s.order.partnerId, PARTNER_ID));
        }
    }

    function test_user_and_service_must_agree_on_the_nonce() public {
        Sweep memory s = _usdcSweep(APPROVED);
        for (uint256 i = 0; i < 2; ++i) {
            s.order.authorizationNonce = 6 + 2 * i;
            _sign(s);
            _expectRevert(s, abi.encodeWithSelector(IV5.NonceMismatch.selector, s.order.authorizationNonce, 7));
        }
    }

    function test_no_signature_lifts_the_fee_cap() public {
        Sweep memory s = _usdcSweep(APPROVED);
        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (300, 300);
        _sign(s);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        vm.revertToState(snapshot);
        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (301, 301);
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.TotalFeeAboveCap.selector, 301, 300));
    }

    function test_the_partner_gets_no_more_than_the_fee() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.authorization.partnerShareBps = 10_001;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(IV5.PartnerShareAboveWhole.selector, 10_001));
    }

    function test_who_is_owed_something_is_somebody() public {
        Sweep memory s = _usdcSweep(APPROVED);
        bytes memory nobody = abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, address(0));
        s.authorization.partnerRecipient = address(0);
        _sign(s);
        _expectRevert(s, nobody);

        (s.authorization.partnerRecipient, s.authorization.protocolRecipient) = (partner, address(0));
        _sign(s);
        _expectRevert(s, nobody);
    }

    function test_who_is_owed_nothing_may_be_nobody() public {
        Sweep memory s = _usdcSweep(APPROVED);
        (s.authorization.partnerRecipient, s.authorization.partnerShareBps) = (address(0), 0);
        _sign(s);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        vm.revertToState(snapshot);

        (s.authorization.partnerRecipient, s.authorization.partnerShareBps) = (partner, 10_000);
        s.authorization.protocolRecipient = address(0);
        _sign(s);
        snapshot = vm.snapshotState();
        _send(s);
        vm.revertToState(snapshot);

        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (0, 0);
        (s.authorization.partnerRecipient, s.authorization.partnerShareBps) = (address(0), 4_000);
        _sign(s);
        _send(s);
    }

    function test_a_fee_is_never_paid_to_where_it_would_stay() public {
        address[2] memory traps = [address(v5), address(weth)];
        for (uint256 i = 0; i < traps.length; ++i) {
            Sweep memory s = _usdcSweep(APPROVED);
            bytes memory expected = abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, traps[i]);
            s.authorization.partnerRecipient = traps[i];
            _sign(s);
            _expectRevert(s, expected);
            (s.authorization.partnerRecipient, s.authorization.protocolRecipient) = (partner, traps[i]);
            _sign(s);
            _expectRevert(s, expected);
        }
    }

    // ---------------------------------------------------------------- the user's signature, as Permit2 checks it

    bytes4 private constant INVALID_SIGNER = bytes4(keccak256("InvalidSigner()"));

    function test_the_user_must_have_signed_the_order() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.order.minUserOutput += 1; // the service's signature does not cover it, the user's does
        _expectRevert(s, abi.encodeWithSelector(INVALID_SIGNER));
    }

    function test_the_user_must_have_signed_the_amounts() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.legs[0].amount += 1;
        s.authorization.legsHash = v5.hashLegs(s.legs);
        _signAuthorization(s);
        _expectRevert(s, abi.encodeWithSelector(INVALID_SIGNER));
    }

    function test_the_same_order_serves_a_later_route() public {
        Sweep memory s = _usdcSweep(APPROVED);
        bytes memory signedOnce = s.permitSignature;
        s.legs[0] = _v2Leg(usdc, 1_000e6, APPROVED);
        _sign(s);
        s.permitSignature = signedOnce;
        _send(s);
        assertGt(weth.balanceOf(user), 0);
    }

    function test_a_permit_nonce_runs_once() public {
        Sweep memory s = _usdcSweep(APPROVED);
        _send(s);
        _give(user, address(usdc), 1_000e6);
        (s.order.authorizationNonce, s.authorization.nonce) = (8, 8);
        _sign(s);
        _expectRevert(s, abi.encodeWithSignature("InvalidNonce()"));
    }

    /// @dev Permit2 takes either s of a key's signature. That opens nothing: its nonce is used once all the same.
    function test_a_permit_signature_with_a_high_s_is_as_good_and_runs_once() public {
        Sweep memory s = _usdcSweep(APPROVED);
        (uint8 v, bytes32 r, bytes32 low) = vm.sign(userKey, _permitDigest(s));
        uint256 order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
        s.permitSignature = abi.encodePacked(r, order - uint256(low), v == 27 ? uint8(28) : uint8(27));
        _send(s);
        (s.order.authorizationNonce, s.authorization.nonce) = (8, 8);
        _sign(s);
        _expectRevert(s, abi.encodeWithSignature("InvalidNonce()"));
    }
}
