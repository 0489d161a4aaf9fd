// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ContractWallet, DenyingSigner} from "./support/Hostile.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";

/// @title BadInput
/// @notice What is cut off, too long, too many, too late, signed in another form or for another chain, in both contracts: each with
/// the error that it ends in, and beside it the nearest input that is good. What only V5 has is in Authorization.t.sol.
contract BadInput is SweepV4Test {
    bytes4 private constant INVALID_SIGNER = bytes4(keccak256("InvalidSigner()"));
    bytes4 private constant INVALID_LENGTH = bytes4(keccak256("InvalidSignatureLength()"));
    bytes4 private constant INVALID_CONTRACT_SIGNATURE = bytes4(keccak256("InvalidContractSignature()"));
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    // ---------------------------------------------------------------- both contracts alike

    function _expectRevertOfBoth(ISweepBatch.Leg[] memory legs, address outputToken, bytes memory reason) private {
        _expectRevert(_sweep(legs, outputToken), reason);
        _expectRevertV4(_sweepV4(legs, outputToken), reason);
    }

    /// @dev Both sweeps of one user, each undone after it ran.
    function _expectBothRun(Sweep memory five, SweepV4 memory four) private {
        uint256 snapshot = vm.snapshotState();
        _send(five);
        assertTrue(v5.isNonceUsed(five.authorization.nonce));
        vm.revertToState(snapshot);
        snapshot = vm.snapshotState();
        _sendV4(four);
        assertTrue(v4.isSweepRefUsed(four.sender, four.order.sweepRef));
        vm.revertToState(snapshot);
    }

    function _expectBothRefused(Sweep memory five, SweepV4 memory four, bytes memory reason) private {
        _expectRevert(five, reason);
        _expectRevertV4(four, reason);
    }

    // ---------------------------------------------------------------- legs

    function test_no_legs_and_a_hundred_legs_are_counted_and_refused() public {
        uint8[3] memory counts = [0, 31, 100];
        for (uint256 i = 0; i < counts.length; ++i) {
            _expectRevertOfBoth(
                new ISweepBatch.Leg[](counts[i]),
                address(weth),
                abi.encodeWithSelector(ISweepBatch.LegCountOutOfRange.selector, counts[i], 30)
            );
        }
    }

    function test_data_shorter_than_a_selector_is_measured_and_refused() public {
        for (uint256 length = 0; length < 4; ++length) {
            ISweepBatch.Leg memory leg = _v3Leg(usdc, 1_000e6, APPROVED);
            leg.data = new bytes(length);
            bytes memory reason = abi.encodeWithSelector(ISweepBatch.SelectorMissing.selector, 1, length);
            _expectRevertOfBoth(_legs(_v3Leg(dai, 1e18, APPROVED), leg), address(weth), reason);
        }
    }

    function test_a_token_that_comes_twice_is_named_wherever_it_stands() public {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](3);
        (legs[0], legs[1], legs[2]) =
        (_v3Leg(usdc, 1e6, APPROVED), _v3Leg(dai, 1e18, PREFUNDED), _v3Leg(usdc, 2e6, PREFUNDED));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, address(usdc));
        _expectRevertOfBoth(legs, address(weth), reason);
        _expectRevertOfBoth(_legs(_wethLeg(1e18), _wethLeg(2e18)), NATIVE, _duplicate(address(weth)));
    }

    function _duplicate(address token) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, token);
    }

    function test_the_output_is_named_wherever_it_stands_among_the_inputs() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(dai, 1e18, APPROVED), _v3Leg(usdc, 1e6, PREFUNDED));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(usdc));
        _expectRevertOfBoth(legs, address(usdc), reason);
    }

    /// @dev What is cut off has no arguments to read, so there is nothing to tell: the reason is empty.
    function test_a_call_of_v4_that_is_cut_off_anywhere_reverts() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        bytes memory data =
            abi.encodeCall(v4.sweep, (s.legs, s.order, s.permitNonce, s.permitDeadline, s.permitSignature));
        uint256 signatureEnd = data.length - 31; // behind it only zeros that fill up a word
        for (uint256 length = 1; length < signatureEnd; length += 31) {
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

    function test_legs_of_v4_that_claim_to_be_huge_revert() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
        bytes memory data =
            abi.encodeCall(v4.sweep, (s.legs, s.order, s.permitNonce, s.permitDeadline, s.permitSignature));
        uint256 legsOffset = 4 + 32 * 8; // behind the head: offset, four words of the order, nonce, deadline, offset
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

    function test_a_permit_signature_of_64_or_65_bytes_and_with_either_s_is_good() public {
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        _expectBothRun(five, four);
        (five.permitSignature, four.permitSignature) = (_compact(_permitDigest(five)), _compact(_permitDigestV4(four)));
        _expectBothRun(five, four);
        (five.permitSignature, four.permitSignature) = (_highS(_permitDigest(five)), _highS(_permitDigestV4(four)));
        _expectBothRun(five, four);
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
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        bytes[3] memory fives = [bytes(""), hex"00", bytes.concat(five.permitSignature, hex"00")];
        bytes[3] memory fours = [bytes(""), hex"00", bytes.concat(four.permitSignature, hex"00")];
        for (uint256 i = 0; i < fives.length; ++i) {
            (five.permitSignature, four.permitSignature) = (fives[i], fours[i]);
            _expectBothRefused(five, four, abi.encodeWithSelector(INVALID_LENGTH));
        }
    }

    function test_a_permit_signature_that_recovers_nobody_is_refused() public {
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        for (uint256 length = 64; length <= 65; ++length) {
            five.permitSignature = four.permitSignature = new bytes(length);
            _expectBothRefused(five, four, abi.encodeWithSignature("InvalidSignature()"));
        }
    }

    function test_a_contract_wallet_answers_for_both_contracts_by_eip1271() public {
        user = address(new ContractWallet(true));
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        five.permitSignature = four.permitSignature = "";
        _expectBothRun(five, four);
    }

    function test_a_wallet_that_denies_is_not_swept() public {
        user = address(new DenyingSigner());
        _expectBothRefused(
            _usdcSweep(APPROVED), _usdcSweepV4(APPROVED), abi.encodeWithSelector(INVALID_CONTRACT_SIGNATURE)
        );
    }

    // ---------------------------------------------------------------- users that delegate to code (EIP-7702)

    function test_a_user_that_delegates_is_asked_by_its_code_whatever_its_key_signs() public {
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        _delegate(address(new DenyingSigner()));
        _expectBothRefused(five, four, abi.encodeWithSelector(INVALID_CONTRACT_SIGNATURE));
        _delegate(address(new ContractWallet(true)));
        five.permitSignature = four.permitSignature = "";
        _expectBothRun(five, four);
    }

    function test_a_user_that_delegates_is_paid_in_coin_if_its_code_takes_it() public {
        Sweep memory five = _sweep(_legs(_wethLeg(2e18)), NATIVE);
        SweepV4 memory four = _sweepV4(_legs(_wethLeg(2e18)), NATIVE);
        _delegate(address(new ContractWallet(false)));
        bytes memory reason = abi.encodeWithSelector(ISweepBatch.NativeTransferFailed.selector, user, 1.985e18);
        _expectBothRefused(five, four, reason);
        _delegate(address(new ContractWallet(true)));
        _expectBothRun(five, four);
    }

    function test_a_user_that_no_longer_delegates_signs_with_its_key() public {
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        _delegate(address(new DenyingSigner()));
        vm.etch(user, "");
        _expectBothRun(five, four);
    }

    function _delegate(address code) private {
        vm.etch(user, abi.encodePacked(hex"ef0100", code));
    }

    // ---------------------------------------------------------------- the user's deadline and nonces

    function test_a_permit_is_good_in_its_last_second_and_not_in_the_next() public {
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        five.authorization.deadline = block.timestamp + 1 days; // the permit's is what is tried
        _sign(five);
        uint256 deadline = five.permitDeadline;
        assertEq(four.permitDeadline, deadline);
        vm.warp(deadline);
        _expectBothRun(five, four);
        vm.warp(deadline + 1);
        _expectBothRefused(five, four, abi.encodeWithSignature("SignatureExpired(uint256)", deadline));
    }

    function test_permit_nonces_and_references_at_the_borders_of_words_are_their_own() public {
        uint256[5] memory nonces = [uint256(0), 255, 256, type(uint256).max - 1, type(uint256).max];
        for (uint256 i = 0; i < nonces.length; ++i) {
            Sweep memory five = _usdcSweep(APPROVED);
            (five.order.authorizationNonce, five.authorization.nonce) = (i, i);
            five.permitNonce = nonces[i];
            _sign(five);
            _send(five);
            assertTrue(v5.isNonceUsed(i));
            assertFalse(v4.isSweepRefUsed(user, bytes32(nonces[i])));
        }
        for (uint256 i = 0; i < nonces.length; ++i) {
            SweepV4 memory four = _usdcSweepV4(APPROVED);
            (four.permitNonce, four.order.sweepRef) = (nonces[i], bytes32(nonces[i]));
            _signV4(four);
            _expectRevertV4(four, abi.encodeWithSignature("InvalidNonce()")); // V5's sweep spent it: it is the user's
            four.permitNonce = 1000 + i;
            _signV4(four);
            _sendV4(four);
            assertTrue(v4.isSweepRefUsed(user, bytes32(nonces[i])));
        }
    }

    // ---------------------------------------------------------------- another chain

    function test_on_another_chain_old_signatures_are_refused_and_new_ones_count() public {
        Sweep memory five = _usdcSweep(APPROVED);
        SweepV4 memory four = _usdcSweepV4(APPROVED);
        bytes32 oldDigest = v5.hashAuthorization(five.authorization);
        bytes memory oldPermit = five.permitSignature;
        vm.chainId(8453);

        bytes32 digest = v5.hashAuthorization(five.authorization);
        assertTrue(digest != oldDigest);
        _expectRevert(five, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
        _expectRevertV4(four, abi.encodeWithSelector(INVALID_SIGNER));
        _sign(five);
        _signV4(four);
        _expectBothRun(five, four);

        five.permitSignature = oldPermit; // the user's alone is from before
        _expectRevert(five, abi.encodeWithSelector(INVALID_SIGNER));
    }

    // ---------------------------------------------------------------- the service's signature

    function test_only_65_bytes_with_a_low_s_are_the_fee_signers() public {
        Sweep memory s = _usdcSweep(APPROVED);
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

    /// @dev V4's own two, with their values, beside the nearest good input.
    function test_another_fee_and_a_used_reference_are_told() public {
        SweepV4 memory s = _usdcSweepV4(APPROVED);
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
