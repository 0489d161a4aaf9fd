// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ContractWallet, RejectingSigner} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Authorization
/// @notice Only what the service and the user signed is executed: each check, and its error. Other signature formats,
/// exact deadlines and other chains are covered in BadInput.t.sol.
contract Authorization is SweepTest {
    function test_the_fee_signer_must_have_signed() public {
        Sweep memory s = _usdcSweep();
        (, uint256 strangerKey) = makeAddrAndKey("stranger");
        bytes32 digest = v5.hashAuthorization(s.authorization);
        s.authorizationSignature = _signature(strangerKey, digest);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
    }

    function test_changing_an_authorized_field_invalidates_the_signature() public {
        Sweep memory s = _usdcSweep();
        s.authorization.partnerRecipient = makeAddr("thief");
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
    }

    function test_a_contract_can_be_the_fee_signer_through_eip1271() public {
        v5.setFeeSigner(address(new ContractWallet(false)), 0);
        Sweep memory s = _usdcSweep();
        s.authorizationSignature = "anything it accepts";
        _send(s);
        assertTrue(v5.isNonceUsed(s.authorization.nonce));
    }

    function test_a_signature_that_the_fee_signer_contract_rejects_is_refused() public {
        address denying = address(new RejectingSigner());
        v5.setFeeSigner(denying, 0);
        Sweep memory s = _usdcSweep();
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, denying, digest));
    }

    function test_only_the_authorized_user_can_sweep() public {
        Sweep memory s = _usdcSweep();
        s.sender = makeAddr("stranger");
        _expectRevert(s, abi.encodeWithSelector(IV5.WrongUser.selector, user, s.sender));
    }

    function test_an_authorization_is_valid_until_its_deadline_inclusive() public {
        Sweep memory s = _usdcSweep();
        uint256 deadline = s.authorization.deadline;
        uint256 snapshot = vm.snapshotState();
        vm.warp(deadline);
        _send(s);
        vm.revertToState(snapshot);
        vm.warp(deadline + 1);
        _expectRevert(s, abi.encodeWithSelector(IV5.AuthorizationExpired.selector, deadline, deadline + 1));
    }

    function test_a_nonce_can_be_used_once() public {
        Sweep memory s = _usdcSweep();
        assertFalse(v5.isNonceUsed(7));
        _send(s);
        assertTrue(v5.isNonceUsed(7));
        assertFalse(v5.isNonceUsed(6));
        assertFalse(v5.isNonceUsed(8));
        assertFalse(v5.isNonceUsed(7 + 256));
        _expectRevert(s, abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 7));
    }

    function test_nonces_at_bitmap_word_boundaries_are_independent() public {
        uint256[4] memory nonces = [uint256(0), 255, 256, type(uint256).max];
        for (uint256 i = 0; i < nonces.length; ++i) {
            Sweep memory s = _usdcSweep();
            (s.authorization.nonce, s.permitNonce) = (nonces[i], i);
            _sign(s);
            assertFalse(v5.isNonceUsed(nonces[i]));
            _send(s);
            for (uint256 j = 0; j < nonces.length; ++j) {
                assertEq(v5.isNonceUsed(nonces[j]), j <= i);
            }
        }
    }

    function test_changing_a_byte_of_a_router_call_changes_the_legs_hash() public {
        Sweep memory s = _usdcRouterSweep();
        bytes32 signed = s.authorization.legsHash;
        s.route.routerCalls[0].data[200] ^= 0x01;
        _expectRevert(s, _legsHashMismatch(signed, s.route));
    }

    function test_every_field_of_the_route_is_in_the_legs_hash() public {
        for (uint256 i = 0; i < 8; ++i) {
            Sweep memory s = _usdcRouterSweep();
            bytes32 signed = s.authorization.legsHash;
            if (i == 0) s.route.legs[0].token = address(dai);
            if (i == 1) s.route.legs[0].amount += 1;
            if (i == 2) s.route.legs[0].floor += 1;
            if (i == 3) s.route.legs[0].hop = _hop(V3, POOL_FEE);
            if (i == 4) s.route.lastHop = _hop(V2, 0);
            if (i == 5) s.route.maxSkipped = 1;
            if (i == 6) s.route.routerCalls[0].leg = 1;
            if (i == 7) s.route.routerCalls[0].router = address(weth);
            _expectRevert(s, _legsHashMismatch(signed, s.route));
        }
    }

    function _legsHashMismatch(bytes32 signed, ISweepBatch.Route memory sent) private pure returns (bytes memory) {
        return abi.encodeWithSelector(IV5.LegsHashMismatch.selector, signed, keccak256(abi.encode(sent)));
    }

    function test_the_fee_cap_applies_to_signed_fees() public {
        Sweep memory s = _usdcSweep();
        s.authorization.totalFeeBps = 300;
        _sign(s);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        vm.revertToState(snapshot);
        s.authorization.totalFeeBps = 301;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.TotalFeeAboveCap.selector, 301, 300));
    }

    function test_the_partner_share_cannot_exceed_the_fee() public {
        Sweep memory s = _usdcSweep();
        s.authorization.partnerShareBps = 10_001;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(IV5.PartnerShareAboveWhole.selector, 10_001));
    }

    function test_a_recipient_of_a_fee_must_not_be_zero() public {
        Sweep memory s = _usdcSweep();
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, address(0));
        s.authorization.partnerRecipient = address(0);
        _sign(s);
        _expectRevert(s, expected);

        (s.authorization.partnerRecipient, s.authorization.protocolRecipient) = (partner, address(0));
        _sign(s);
        _expectRevert(s, expected);
    }

    function test_a_recipient_without_a_fee_may_be_zero() public {
        Sweep memory s = _usdcSweep();
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

        s.authorization.totalFeeBps = 0;
        (s.authorization.partnerRecipient, s.authorization.partnerShareBps) = (address(0), 4_000);
        _sign(s);
        _send(s);
    }

    function test_this_contract_and_the_wrapped_native_token_cannot_be_fee_recipients() public {
        address[2] memory traps = [address(v5), address(weth)];
        for (uint256 i = 0; i < traps.length; ++i) {
            Sweep memory s = _usdcSweep();
            bytes memory expected = abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, traps[i]);
            s.authorization.partnerRecipient = traps[i];
            _sign(s);
            _expectRevert(s, expected);
            (s.authorization.partnerRecipient, s.authorization.protocolRecipient) = (partner, traps[i]);
            _sign(s);
            _expectRevert(s, expected);
        }
    }

    // ---------------------------------------------------------------- the user's signature, checked by Permit2

    /// @dev The witness comes from what the service signed, so it refuses a user who signed anything else.
    function test_the_user_must_have_signed_the_same_terms_as_the_service() public {
        for (uint256 i = 0; i < 4; ++i) {
            Sweep memory s = _usdcSweep();
            if (i == 0) s.authorization.outputToken = NATIVE;
            if (i == 1) s.authorization.totalFeeBps = 76;
            if (i == 2) s.authorization.partnerId = bytes32(uint256(PARTNER_ID) + 1);
            if (i == 3) s.authorization.nonce = 8;
            _expectUnsignedByUser(s);
        }
    }

    function test_the_user_must_have_signed_the_floors() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(dai, 1_000e18))), address(weth));
        for (uint256 i = 0; i < 2; ++i) {
            s.route.legs[i].floor = 0;
            _expectUnsignedByUser(s);
            s.route.legs[i].floor = 2;
            _expectUnsignedByUser(s);
            s.route.legs[i].floor = 1;
        }
        _signRoute(s);
        _send(s);
    }

    function test_the_user_must_have_signed_how_many_legs_may_be_left_out() public {
        Sweep memory s = _usdcSweep();
        s.route.maxSkipped = 1;
        _expectUnsignedByUser(s);
    }

    function test_the_user_must_have_signed_the_tokens_and_amounts() public {
        Sweep memory s = _usdcSweep();
        s.route.legs[0].amount -= 1;
        _expectUnsignedByUser(s);
        s.route.legs[0] = _v3Leg(dai, 1_000e6);
        _expectUnsignedByUser(s);
    }

    /// @dev Of each floor it must be known for which token it is.
    function test_the_floors_must_be_in_the_order_of_the_tokens() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(dai, 1_000e18))), address(weth));
        (s.route.legs[0].floor, s.route.legs[1].floor) = (0.1e18, 0.2e18);
        _sign(s);
        (s.route.legs[0].floor, s.route.legs[1].floor) = (0.2e18, 0.1e18);
        _expectUnsignedByUser(s);
        (s.route.legs[0], s.route.legs[1]) = (s.route.legs[1], s.route.legs[0]);
        _expectUnsignedByUser(s);
    }

    function _expectUnsignedByUser(Sweep memory s) private {
        _signRoute(s);
        _expectRevert(s, _pullFailed(INVALID_SIGNER));
    }

    function test_an_order_stays_valid_for_another_route() public {
        Sweep memory s = _usdcSweep();
        ISweepBatch.Leg memory leg = s.route.legs[0];
        uint256[2] memory hops = [_hop(V2, 0), _hop(V3, POOL_FEE) | SKIPPABLE];
        for (uint256 i = 0; i < 2; ++i) {
            leg.hop = hops[i];
            _expectAcceptedUnderTheSameSignature(s, _route(_legs(leg)));
        }
        leg.hop = 0;
        ISweepBatch.RouterCall memory call = _v3Call(0, usdc, address(weth), 1_000e6, address(v5));
        _expectAcceptedUnderTheSameSignature(s, _routerRoute(leg, call));
    }

    function _expectAcceptedUnderTheSameSignature(Sweep memory s, ISweepBatch.Route memory route) private {
        s.route = route;
        _signRoute(s);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertGt(weth.balanceOf(user), 0.49e18);
        vm.revertToState(snapshot);
    }

    function test_a_permit_nonce_can_be_used_once() public {
        Sweep memory s = _usdcSweep();
        _send(s);
        _give(user, address(usdc), 1_000e6);
        s.authorization.nonce = 8;
        _sign(s);
        _expectRevert(s, _pullFailed(bytes4(keccak256("InvalidNonce()"))));
    }
}
