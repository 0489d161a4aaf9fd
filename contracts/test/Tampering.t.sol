// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Tampering
/// @notice A sweep is what was signed down to the byte: whatever is changed in the call makes it revert, and legs that are encoded
/// in another way are other legs.
contract Tampering is SweepTest {
    uint256 private constant SELECTOR = 4;
    uint256 private constant AUTHORIZATION_SIGNATURE_AT = SELECTOR + 16 * 32; // where it stands in the call's head
    uint256 private constant PERMIT_SIGNATURE_AT = SELECTOR + 19 * 32;

    uint256 private constant GAS = 2_000_000; // some claims of length use up all there is

    function _call(Sweep memory s) private view returns (bytes memory) {
        return abi.encodeCall(
            v5.sweep,
            (
                s.legs,
                s.order,
                s.authorization,
                s.authorizationSignature,
                s.permitNonce,
                s.permitDeadline,
                s.permitSignature
            )
        );
    }

    function _word(bytes memory data, uint256 place) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 0x20), place))
        }
    }

    function _setWord(bytes memory data, uint256 place, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(add(add(data, 0x20), place), word)
        }
    }

    /// @dev Bytes that nobody signs and nobody reads: what fills up the last word of a signature. And the last byte of the permit
    /// signature's length, because 64 bytes are as good a signature as 65 if its v is 27.
    function _isUnsigned(bytes memory call, uint256 place) private pure returns (bool) {
        uint256 authorizationSignature = SELECTOR + _word(call, AUTHORIZATION_SIGNATURE_AT) + 32;
        uint256 permitSignature = SELECTOR + _word(call, PERMIT_SIGNATURE_AT) + 32;
        return (place >= authorizationSignature + 65 && place < authorizationSignature + 96)
            || (place >= permitSignature + 65 && place < permitSignature + 96) || place == permitSignature - 1;
    }

    function _sample() private returns (Sweep memory) {
        return _sweep(_legs(_v3Leg(usdc, 1_000e6, APPROVED), _v2Leg(dai, 10e18, PREFUNDED)), address(weth));
    }

    /// forge-config: default.fuzz.runs = 512
    function testFuzz_changing_any_byte_of_the_call_makes_it_revert(uint256 place, uint8 flip) public {
        Sweep memory s = _sample();
        bytes memory call = _call(s);
        place = bound(place, 0, call.length - 1);
        vm.assume(flip != 0 && !_isUnsigned(call, place));
        call[place] ^= bytes1(flip);
        vm.prank(user);
        (bool succeeded,) = address(v5).call(call);
        assertFalse(succeeded);
    }

    function test_the_call_that_is_tampered_with_would_have_run() public {
        Sweep memory s = _sample();
        vm.prank(user);
        (bool succeeded,) = address(v5).call{gas: GAS}(_call(s));
        assertTrue(succeeded);
    }

    /// @dev Every byte, one after the other: legs, order, authorization, nonces, deadlines, signatures, and the offsets between.
    function test_changing_any_byte_makes_it_revert() public {
        Sweep memory s = _sample();
        bytes memory call = _call(s);
        for (uint256 place = 0; place < call.length; ++place) {
            if (_isUnsigned(call, place)) continue;
            call[place] ^= 0x01;
            vm.prank(user);
            (bool succeeded,) = address(v5).call{gas: GAS}(call);
            assertFalse(succeeded, vm.toString(place));
            call[place] ^= 0x01;
        }
    }

    function testFuzz_the_legs_hash_is_that_of_their_abi_encoding(ISweepBatch.Leg[] memory legs) public view {
        assertEq(v5.hashLegs(legs), keccak256(abi.encode(legs)));
    }

    function test_data_of_any_length_is_hashed_with_its_padding_and_no_more() public view {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](2);
        for (uint256 length = 0; length <= 65; ++length) {
            legs[1].data = new bytes(length);
            assertEq(v5.hashLegs(legs), keccak256(abi.encode(legs)), vm.toString(length));
        }
    }

    function test_no_legs_have_a_hash_too() public view {
        ISweepBatch.Leg[] memory none = new ISweepBatch.Leg[](0);
        assertEq(v5.hashLegs(none), keccak256(abi.encode(none)));
    }

    /// @dev One word that nobody reads between a leg's offset and the leg: it reads as the same legs, but it is not what was signed.
    function test_legs_in_another_encoding_are_refused() public {
        Sweep memory s = _usdcSweep(APPROVED);
        bytes memory call = _call(s);
        uint256 gap = SELECTOR + _word(call, SELECTOR) + 64;
        bytes memory tampered = bytes.concat(_slice(call, 0, gap), bytes32(0), _slice(call, gap, call.length));
        _setWord(tampered, gap - 32, 64); // the leg stands a word later
        _setWord(tampered, AUTHORIZATION_SIGNATURE_AT, _word(call, AUTHORIZATION_SIGNATURE_AT) + 32);
        _setWord(tampered, PERMIT_SIGNATURE_AT, _word(call, PERMIT_SIGNATURE_AT) + 32);
        vm.prank(user);
        (bool succeeded, bytes memory reason) = address(v5).call(tampered);
        assertFalse(succeeded);
        assertEq(bytes4(reason), IV5.LegsHashMismatch.selector);
    }

    function test_truncated_legs_revert() public {
        bytes memory call = _call(_usdcSweep(APPROVED));
        for (uint256 length = 0; length < call.length - 31; length += 31) {
            vm.prank(user);
            (bool succeeded,) = address(v5).call(_slice(call, 0, length == 0 ? 1 : length));
            assertFalse(succeeded);
        }
    }

    function test_legs_that_claim_to_be_huge_revert() public {
        bytes memory call = _call(_usdcSweep(APPROVED));
        uint256 legsLength = SELECTOR + _word(call, SELECTOR);
        uint256[4] memory claims = [uint256(2), 31, type(uint64).max, type(uint256).max];
        for (uint256 i = 0; i < claims.length; ++i) {
            _setWord(call, legsLength, claims[i]);
            vm.prank(user);
            (bool succeeded,) = address(v5).call(call);
            assertFalse(succeeded);
        }
    }

    /// @dev Data that claims to begin before the legs would make their end lie before their beginning.
    function test_data_that_points_back_reverts() public {
        bytes memory call = _call(_usdcSweep(APPROVED));
        uint256 dataOffset = SELECTOR + _word(call, SELECTOR) + 64 + 4 * 32;
        assertEq(_word(call, dataOffset), 160);
        _setWord(call, dataOffset, type(uint256).max - 0x1ff);
        vm.prank(user);
        (bool succeeded,) = address(v5).call(call);
        assertFalse(succeeded);
    }

    function _slice(bytes memory data, uint256 from, uint256 to) private pure returns (bytes memory slice) {
        slice = new bytes(to - from);
        for (uint256 i = from; i < to; ++i) {
            slice[i - from] = data[i];
        }
    }
}
