// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Tampering
/// @notice A sweep is executed exactly as it was signed: any change to the calldata makes it revert, and so does
/// another encoding of the route.
contract Tampering is SweepTest {
    uint256 private constant SELECTOR = 4;
    uint256 private constant AUTHORIZATION_SIGNATURE_AT = SELECTOR + 11 * 32; // its offset in the head of the calldata
    uint256 private constant PERMIT_SIGNATURE_AT = SELECTOR + 14 * 32;

    uint256 private constant GAS = 2_000_000; // huge lengths consume all gas

    function _word(bytes memory data, uint256 index) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 0x20), index))
        }
    }

    function _setWord(bytes memory data, uint256 index, uint256 word) private pure {
        assembly ("memory-safe") {
            mstore(add(add(data, 0x20), index), word)
        }
    }

    /// @dev Bytes that are neither signed nor read: the padding of the signatures. And the last byte of the permit
    /// signature's length, because Permit2 accepts 64 bytes instead of 65 if v is 27.
    function _isUnsigned(bytes memory call, uint256 index) private pure returns (bool) {
        uint256 authorizationSignature = SELECTOR + _word(call, AUTHORIZATION_SIGNATURE_AT) + 32;
        uint256 permitSignature = SELECTOR + _word(call, PERMIT_SIGNATURE_AT) + 32;
        return (index >= authorizationSignature + 65 && index < authorizationSignature + 96)
            || (index >= permitSignature + 65 && index < permitSignature + 96) || index == permitSignature - 1;
    }

    /// @dev A pool leg of each kind, a router leg, and a joined leg with its last hop.
    function _sample() private returns (Sweep memory) {
        uint256 joined = _hop(V2, 0) | JOINED | 1 << 128;
        ISweepBatch.Route memory route =
            _joinedRoute(_legs(_leg(dai, 10e18, joined), _leg(usdc, 10e6, 0)), _hop(V3, POOL_FEE));
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3PathCall(1, usdc, usdt, 10e6);
        return _sweep(route, address(usdt));
    }

    /// forge-config: default.fuzz.runs = 512
    function testFuzz_changing_any_byte_of_the_call_makes_it_revert(uint256 index, uint8 flip) public {
        Sweep memory s = _sample();
        bytes memory call = _dataOf(s);
        index = bound(index, 0, call.length - 1);
        vm.assume(flip != 0 && !_isUnsigned(call, index));
        call[index] ^= bytes1(flip);
        vm.prank(user);
        (bool succeeded,) = address(v5).call{gas: GAS}(call);
        assertFalse(succeeded);
    }

    function test_the_unchanged_call_succeeds() public {
        Sweep memory s = _sample();
        vm.prank(user);
        (bool succeeded,) = address(v5).call{gas: GAS}(_dataOf(s));
        assertTrue(succeeded);
    }

    /// @dev Every single byte: route, authorization, nonces, deadlines, signatures, and the offsets between them.
    function test_changing_any_byte_makes_it_revert() public {
        Sweep memory s = _sample();
        bytes memory call = _dataOf(s);
        for (uint256 index = 0; index < call.length; ++index) {
            if (_isUnsigned(call, index)) continue;
            call[index] ^= 0x01;
            vm.prank(user);
            (bool succeeded,) = address(v5).call{gas: GAS}(call);
            assertFalse(succeeded, vm.toString(index));
            call[index] ^= 0x01;
        }
    }

    function testFuzz_the_legs_hash_is_that_of_the_routes_abi_encoding(ISweepBatch.Route memory route) public view {
        assertEq(v5.hashLegs(route), keccak256(abi.encode(route)));
    }

    function test_the_legs_hash_covers_data_of_any_length_with_its_padding() public view {
        ISweepBatch.Route memory route;
        route.routerCalls = new ISweepBatch.RouterCall[](2);
        for (uint256 length = 0; length <= 65; ++length) {
            route.routerCalls[1].data = new bytes(length);
            assertEq(v5.hashLegs(route), keccak256(abi.encode(route)), vm.toString(length));
        }
    }

    function test_the_hash_of_an_empty_route_is_that_of_its_abi_encoding() public view {
        ISweepBatch.Route memory none;
        assertEq(v5.hashLegs(none), keccak256(abi.encode(none)));
    }

    // ---------------------------------------------------------------- other encodings of the same route

    // Words of the route, from its start.
    uint256 private constant CALLS_OFFSET = 3;
    uint256 private constant LEGS_LENGTH = 4;
    uint256 private constant CALLS_LENGTH = 5 + 2 * 4;
    uint256 private constant CALL_OFFSET = CALLS_LENGTH + 1;
    uint256 private constant CALL = CALL_OFFSET + 1;

    /// @dev An unused word before a part of the route, whose offset says so, decodes to the same route.
    function test_a_route_with_an_unused_word_is_refused() public {
        uint256[4] memory gaps = [LEGS_LENGTH, CALLS_LENGTH, CALL, CALL + 3];
        for (uint256 i = 0; i < gaps.length; ++i) {
            bytes memory call = _dataOf(_sample());
            uint256 gap = _routeAt(call) + 32 * gaps[i];
            bytes memory changed = bytes.concat(_slice(call, 0, gap), bytes32(0), _slice(call, gap, call.length));
            if (i == 0) _addWord(changed, _routeAt(changed));
            if (i <= 1) _addWord(changed, _routeAt(changed) + 32 * CALLS_OFFSET);
            if (i == 2) _addWord(changed, _routeAt(changed) + 32 * CALL_OFFSET);
            if (i == 3) _addWord(changed, _routeAt(changed) + 32 * (CALL + 2));
            _addWord(changed, AUTHORIZATION_SIGNATURE_AT);
            _addWord(changed, PERMIT_SIGNATURE_AT);
            _expectOtherHash(changed);
        }
    }

    /// @dev The same words, of which the list of calls is elsewhere: behind everything else.
    function test_a_route_in_another_order_is_refused() public {
        bytes memory call = _dataOf(_sample());
        uint256 from = _routeAt(call) + 32 * CALLS_LENGTH;
        uint256 to = SELECTOR + _word(call, AUTHORIZATION_SIGNATURE_AT);
        bytes memory changed = bytes.concat(call, _slice(call, from, to));
        _setWord(changed, _routeAt(call) + 32 * CALLS_OFFSET, call.length - _routeAt(call));
        _expectOtherHash(changed);
    }

    function test_dirty_padding_of_a_router_call_is_refused() public {
        bytes memory call = _dataOf(_sample());
        uint256 end = SELECTOR + _word(call, AUTHORIZATION_SIGNATURE_AT);
        assertEq(uint8(call[end - 1]), 0);
        call[end - 1] = 0x01;
        _expectOtherHash(call);
    }

    function _routeAt(bytes memory call) private pure returns (uint256) {
        return SELECTOR + _word(call, SELECTOR);
    }

    function _addWord(bytes memory call, uint256 index) private pure {
        _setWord(call, index, _word(call, index) + 32);
    }

    function _expectOtherHash(bytes memory call) private {
        vm.prank(user);
        (bool succeeded, bytes memory reason) = address(v5).call{gas: GAS}(call);
        assertFalse(succeeded);
        assertEq(bytes4(reason), IV5.LegsHashMismatch.selector);
    }

    // ---------------------------------------------------------------- calldata that can't be decoded

    function test_truncated_calldata_reverts() public {
        bytes memory call = _dataOf(_usdcRouterSweep());
        for (uint256 length = 0; length < call.length - 31; length += 31) {
            vm.prank(user);
            (bool succeeded,) = address(v5).call(_slice(call, 0, length == 0 ? 1 : length));
            assertFalse(succeeded);
        }
    }

    function test_calldata_with_huge_counts_reverts() public {
        uint256[4] memory claims = [uint256(3), 31, type(uint64).max, type(uint256).max];
        for (uint256 i = 0; i < claims.length; ++i) {
            bytes memory call = _dataOf(_sample());
            _setWord(call, _routeAt(call) + 32 * LEGS_LENGTH, claims[i]);
            _expectAnyRevert(call);
            call = _dataOf(_sample());
            _setWord(call, _routeAt(call) + 32 * CALLS_LENGTH, claims[i]);
            _expectAnyRevert(call);
        }
    }

    /// @dev If a part of the route started before it, its end could precede its start.
    function test_an_offset_that_points_backwards_reverts() public {
        uint256[4] memory offsets = [uint256(0), CALLS_OFFSET, CALL_OFFSET, CALL + 2];
        for (uint256 i = 0; i < 4; ++i) {
            bytes memory call = _dataOf(_sample());
            _setWord(call, _routeAt(call) + 32 * offsets[i], type(uint256).max - 0x1ff);
            _expectAnyRevert(call);
        }
    }

    function _expectAnyRevert(bytes memory call) private {
        vm.prank(user);
        (bool succeeded,) = address(v5).call{gas: GAS}(call);
        assertFalse(succeeded);
    }

    function _slice(bytes memory data, uint256 from, uint256 to) private pure returns (bytes memory slice) {
        slice = new bytes(to - from);
        for (uint256 i = from; i < to; ++i) {
            slice[i - from] = data[i];
        }
    }
}
