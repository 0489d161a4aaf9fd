// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ContractWallet, RejectingSigner} from "./support/Hostile.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";

/// @title BadInput
/// @notice Input of both contracts that is truncated, too long, too late, signed in another format or for another
/// chain: each with the error that it ends in, next to the nearest valid input. What only V5 has is covered in
/// Authorization.t.sol.
contract BadInput is SweepV4Test {
    bytes4 private constant INVALID_LENGTH = bytes4(keccak256("InvalidSignatureLength()"));
    bytes4 private constant INVALID_CONTRACT_SIGNATURE = bytes4(keccak256("InvalidContractSignature()"));
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    // ---------------------------------------------------------------- for both contracts

    function _expectBothLegsRevert(ISweepBatch.Leg[] memory legs, address outputToken, bytes memory reason) private {
        _expectBothRoutesRevert(_route(legs), outputToken, reason);
    }

    function _expectBothRoutesRevert(ISweepBatch.Route memory route, address outputToken, bytes memory reason) private {
        _expectRevert(_sweep(route, outputToken), reason);
        _expectRevertV4(_sweepV4(route, outputToken), reason);
    }

    /// @dev Executes both sweeps of one user, and reverts the state after each.
    function _expectBothSucceed(Sweep memory v5Sweep, SweepV4 memory v4Sweep) private {
        uint256 snapshot = vm.snapshotState();
        _send(v5Sweep);
        assertTrue(v5.isNonceUsed(v5Sweep.authorization.nonce));
        vm.revertToState(snapshot);
        snapshot = vm.snapshotState();
        _sendV4(v4Sweep);
        assertTrue(v4.isSweepRefUsed(v4Sweep.sender, v4Sweep.order.sweepRef));
        vm.revertToState(snapshot);
    }

    function _expectBothRevert(Sweep memory v5Sweep, SweepV4 memory v4Sweep, bytes memory reason) private {
        _expectRevert(v5Sweep, reason);
        _expectRevertV4(v4Sweep, reason);
    }

    // ---------------------------------------------------------------- legs

    function test_zero_and_too_many_legs_are_refused() public {
        uint8[3] memory counts = [0, 31, 100];
        for (uint256 i = 0; i < counts.length; ++i) {
            _expectBothLegsRevert(
                new ISweepBatch.Leg[](counts[i]),
                address(weth),
                abi.encodeWithSelector(ISweepBatch.LegCountOutOfRange.selector, counts[i], 30)
            );
        }
    }

    function test_data_shorter_than_a_selector_is_refused() public {
        ISweepBatch.RouterCall memory call = _v3Call(1, usdc, address(weth), 1_000e6, address(v5));
        ISweepBatch.Route memory route = _routerRoute(_leg(usdc, 1_000e6, 0), call);
        route.legs = _legs(_v3Leg(dai, 1e18), route.legs[0]);
        for (uint256 length = 0; length < 4; ++length) {
            route.routerCalls[0].data = new bytes(length);
            bytes memory reason = abi.encodeWithSelector(ISweepBatch.SelectorMissing.selector, 1, length);
            _expectBothRoutesRevert(route, address(weth), reason);
        }
    }

    function test_a_duplicate_token_is_refused_at_any_index() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1e6), _v3Leg(dai, 1e18), _v2Leg(usdc, 2e6));
        _expectBothLegsRevert(legs, address(weth), _duplicate(address(usdc)));
        _expectBothLegsRevert(_legs(_wethLeg(1e18), _wethLeg(2e18)), NATIVE, _duplicate(address(weth)));
        ISweepBatch.Route memory route = _route(_legs(_v3Leg(usdc, 1e6), _leg(usdc, 1e6, DROPPED)));
        route.maxSkipped = 1;
        _expectBothRoutesRevert(route, address(weth), _duplicate(address(usdc)));
    }

    function _duplicate(address token) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, token);
    }

    function test_the_output_token_is_refused_as_input_at_any_index() public {
        ISweepBatch.Leg[] memory legs = _legs(_leg(weth, 1e18, _hop(V3, POOL_FEE)), _v3Leg(usdc, 1e6));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(usdc));
        _expectBothLegsRevert(legs, address(usdc), reason);
    }

    /// @dev Decoding fails before any check, so the revert data is empty.
    function test_truncated_v4_calldata_reverts() public {
        SweepV4 memory s = _usdcSweepV4();
        bytes memory data = _dataOfV4(s);
        uint256 signatureEnd = data.length - 31; // followed by zero padding only
        for (uint256 length = 4; length < signatureEnd; length += 31) {
            bytes memory cut = new bytes(length);
            for (uint256 i = 0; i < length; ++i) {
                cut[i] = data[i];
            }
            vm.prank(user);
            (bool succeeded, bytes memory reason) = address(v4).call(cut);
            assertFalse(succeeded, vm.toString(length));
            assertEq(reason.length, 0);
        }
    }

    function test_v4_calldata_with_a_huge_leg_count_reverts() public {
        SweepV4 memory s = _usdcSweepV4();
        bytes memory data = _dataOfV4(s);
        uint256 legsOffset = 4 + 32 * (7 + 4); // after the heads: of the call with the order, and of the route
        uint256[3] memory claims = [uint256(1000), type(uint64).max, type(uint256).max];
        for (uint256 i = 0; i < claims.length; ++i) {
            uint256 claim = claims[i];
            assembly ("memory-safe") {
                mstore(add(add(data, 0x20), legsOffset), claim)
            }
            vm.prank(user);
            (bool succeeded, bytes memory reason) = address(v4).call(data);
            assertFalse(succeeded);
            assertEq(reason.length, 0);
        }
    }

    // ---------------------------------------------------------------- the user's signature

    function test_permit_signatures_of_64_and_65_bytes_with_either_s_are_accepted() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        _expectBothSucceed(v5Sweep, v4Sweep);
        (v5Sweep.permitSignature, v4Sweep.permitSignature) =
        (_compact(_permitDigest(v5Sweep)), _compact(_permitDigestV4(v4Sweep)));
        _expectBothSucceed(v5Sweep, v4Sweep);
        (v5Sweep.permitSignature, v4Sweep.permitSignature) =
        (_highS(_permitDigest(v5Sweep)), _highS(_permitDigestV4(v4Sweep)));
        _expectBothSucceed(v5Sweep, v4Sweep);
    }

    function _compact(bytes32 digest) private view returns (bytes memory) {
        (bytes32 r, bytes32 vs) = vm.signCompact(userKey, digest);
        return abi.encodePacked(r, vs);
    }

    function _highS(bytes32 digest) private view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 low) = vm.sign(userKey, digest);
        return abi.encodePacked(r, CURVE_ORDER - uint256(low), v == 27 ? uint8(28) : uint8(27));
    }

    function test_a_permit_signature_of_another_length_is_refused() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        bytes[3] memory fives = [bytes(""), hex"00", bytes.concat(v5Sweep.permitSignature, hex"00")];
        bytes[3] memory fours = [bytes(""), hex"00", bytes.concat(v4Sweep.permitSignature, hex"00")];
        for (uint256 i = 0; i < fives.length; ++i) {
            (v5Sweep.permitSignature, v4Sweep.permitSignature) = (fives[i], fours[i]);
            _expectBothRevert(v5Sweep, v4Sweep, _pullFailed(INVALID_LENGTH));
        }
    }

    function test_a_permit_signature_that_recovers_zero_is_refused() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        for (uint256 length = 64; length <= 65; ++length) {
            v5Sweep.permitSignature = v4Sweep.permitSignature = new bytes(length);
            _expectBothRevert(v5Sweep, v4Sweep, _pullFailed(bytes4(keccak256("InvalidSignature()"))));
        }
    }

    function test_a_contract_wallet_can_sign_for_both_contracts_through_eip1271() public {
        user = address(new ContractWallet(true));
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        v5Sweep.permitSignature = v4Sweep.permitSignature = "";
        _expectBothSucceed(v5Sweep, v4Sweep);
    }

    function test_a_signature_that_the_wallet_rejects_is_refused() public {
        user = address(new RejectingSigner());
        _expectBothRevert(_usdcSweep(), _usdcSweepV4(), _pullFailed(INVALID_CONTRACT_SIGNATURE));
    }

    // ---------------------------------------------------------------- users that delegate to code (EIP-7702)

    function test_the_code_of_a_delegating_user_decides_about_signatures() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        _delegate(address(new RejectingSigner()));
        _expectBothRevert(v5Sweep, v4Sweep, _pullFailed(INVALID_CONTRACT_SIGNATURE));
        _delegate(address(new ContractWallet(true)));
        v5Sweep.permitSignature = v4Sweep.permitSignature = "";
        _expectBothSucceed(v5Sweep, v4Sweep);
    }

    function test_a_delegating_user_is_paid_in_native_coin_if_its_code_accepts_it() public {
        Sweep memory v5Sweep = _sweep(_route(_legs(_wethLeg(2e18))), NATIVE);
        SweepV4 memory v4Sweep = _sweepV4(_route(_legs(_wethLeg(2e18))), NATIVE);
        _delegate(address(new ContractWallet(false)));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NativeTransferFailed.selector, user, 1.985e18);
        _expectBothRevert(v5Sweep, v4Sweep, reason);
        _delegate(address(new ContractWallet(true)));
        _expectBothSucceed(v5Sweep, v4Sweep);
    }

    function test_a_user_that_no_longer_delegates_can_sign_with_its_key() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        _delegate(address(new RejectingSigner()));
        vm.etch(user, "");
        _expectBothSucceed(v5Sweep, v4Sweep);
    }

    function _delegate(address code) private {
        vm.etch(user, abi.encodePacked(hex"ef0100", code));
    }

    // ---------------------------------------------------------------- the user's deadline and nonces

    function test_a_permit_is_valid_until_its_deadline_inclusive() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        v5Sweep.authorization.deadline = block.timestamp + 1 days; // so that only the permit expires
        _sign(v5Sweep);
        uint256 deadline = v5Sweep.permitDeadline;
        assertEq(v4Sweep.permitDeadline, deadline);
        vm.warp(deadline);
        _expectBothSucceed(v5Sweep, v4Sweep);
        vm.warp(deadline + 1);
        bytes memory expired = abi.encodeWithSignature("SignatureExpired(uint256)", deadline);
        _expectBothRevert(v5Sweep, v4Sweep, abi.encodeWithSelector(ISweepBatch.PullFailed.selector, expired));
    }

    function test_permit_nonces_and_references_at_bitmap_word_boundaries_are_independent() public {
        uint256[5] memory nonces = [uint256(0), 255, 256, type(uint256).max - 1, type(uint256).max];
        for (uint256 i = 0; i < nonces.length; ++i) {
            Sweep memory v5Sweep = _usdcSweep();
            (v5Sweep.authorization.nonce, v5Sweep.permitNonce) = (i, nonces[i]);
            _sign(v5Sweep);
            _send(v5Sweep);
            assertTrue(v5.isNonceUsed(i));
            assertFalse(v4.isSweepRefUsed(user, bytes32(nonces[i])));
        }
        for (uint256 i = 0; i < nonces.length; ++i) {
            SweepV4 memory v4Sweep = _usdcSweepV4();
            (v4Sweep.permitNonce, v4Sweep.order.sweepRef) = (nonces[i], bytes32(nonces[i]));
            _signV4(v4Sweep);
            _expectRevertV4(v4Sweep, _pullFailed(bytes4(keccak256("InvalidNonce()")))); // used by V5's sweep
            v4Sweep.permitNonce = 1000 + i;
            _signV4(v4Sweep);
            _sendV4(v4Sweep);
            assertTrue(v4.isSweepRefUsed(user, bytes32(nonces[i])));
        }
    }

    // ---------------------------------------------------------------- another chain

    function test_signatures_for_another_chain_id_are_refused() public {
        Sweep memory v5Sweep = _usdcSweep();
        SweepV4 memory v4Sweep = _usdcSweepV4();
        bytes32 oldDigest = v5.hashAuthorization(v5Sweep.authorization);
        bytes memory oldPermit = v5Sweep.permitSignature;
        vm.chainId(8453);

        bytes32 digest = v5.hashAuthorization(v5Sweep.authorization);
        assertTrue(digest != oldDigest);
        _expectRevert(v5Sweep, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
        _expectRevertV4(v4Sweep, _pullFailed(INVALID_SIGNER));
        _sign(v5Sweep);
        _signV4(v4Sweep);
        _expectBothSucceed(v5Sweep, v4Sweep);

        v5Sweep.permitSignature = oldPermit; // only the user's is for the old chain
        _expectRevert(v5Sweep, _pullFailed(INVALID_SIGNER));
    }

    // ---------------------------------------------------------------- the service's signature

    function test_only_65_byte_authorization_signatures_with_a_low_s_are_accepted() public {
        Sweep memory s = _usdcSweep();
        bytes32 digest = v5.hashAuthorization(s.authorization);
        (uint8 v, bytes32 r, bytes32 low) = vm.sign(signerKey, digest);
        (bytes32 compactR, bytes32 vs) = vm.signCompact(signerKey, digest);
        bytes[6] memory others = [
            bytes(""),
            hex"00",
            abi.encodePacked(compactR, vs),
            abi.encodePacked(r, low, v, uint8(0)),
            abi.encodePacked(r, CURVE_ORDER - uint256(low), v == 27 ? uint8(28) : uint8(27)),
            abi.encodePacked(r, low, v - 27)
        ];
        for (uint256 i = 0; i < others.length; ++i) {
            s.authorizationSignature = others[i];
            _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
        }
        s.authorizationSignature = abi.encodePacked(r, low, v);
        _send(s);
        assertTrue(v5.isNonceUsed(s.authorization.nonce));
    }

    /// @dev The two errors of V4 only, with their values, next to the nearest valid input.
    function test_another_fee_and_a_used_reference_are_refused() public {
        SweepV4 memory s = _usdcSweepV4();
        for (uint16 feeBps = 74; feeBps <= 76; ++feeBps) {
            s.order.feeBps = feeBps;
            _signV4(s);
            if (feeBps != 75) _expectRevertV4(s, abi.encodeWithSelector(IV4.FeeMismatch.selector, feeBps, 75));
        }
        s.order.feeBps = 75;
        _signV4(s);
        _sendV4(s);
        _expectRevertV4(s, abi.encodeWithSelector(IV4.SweepRefAlreadyUsed.selector, user, REF));
    }
}
