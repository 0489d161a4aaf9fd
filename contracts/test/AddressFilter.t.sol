// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ISwapRouter02, SweepTest} from "./support/SweepTest.sol";

/// @title AddressFilter
/// @notice Addresses are compared with each other only if their filter bits, given by their lowest bytes, are equal.
/// This only saves gas, so the tests compare the cost of checking legs: of tokens that do not exist, with a permit that
/// has expired.
contract AddressFilter is SweepTest {
    uint256 private constant MARGIN = 500;

    function test_a_token_is_compared_with_earlier_ones_only_if_its_filter_bit_is_set() public {
        uint8 from = _freeBits();
        uint8[] memory distinct = new uint8[](10);
        uint8[] memory pairs = new uint8[](10);
        uint8[] memory same = new uint8[](10);
        for (uint8 i = 0; i < 10; ++i) {
            (distinct[i], pairs[i], same[i]) = (from + i, from + i / 2 * 2, from);
        }
        assertLt(_gas(distinct) + MARGIN, _gas(pairs));
        assertLt(_gas(pairs) + MARGIN, _gas(same));
    }

    function test_a_router_is_compared_with_the_tokens_once_and_only_if_they_share_a_filter_bit() public {
        uint256 tenLegs = _exactCheckGas(10);
        assertGt(tenLegs, MARGIN);
        assertLt(_exactCheckGas(20), 3 * tenLegs);
    }

    /// @dev The additional cost if one of the tokens shares the router's filter bit.
    function _exactCheckGas(uint8 count) private returns (uint256) {
        uint8[] memory bits = new uint8[](count);
        for (uint8 i = 0; i < count; ++i) {
            bits[i] = _freeBits() + i;
        }
        uint256 distinct = _gas(bits);
        bits[0] = uint8(uint160(address(router)));
        return _gas(bits) - distinct;
    }

    /// @dev The first of twenty bits that neither the router nor the output has; even.
    function _freeBits() private view returns (uint8 from) {
        while (_isWithinTwenty(from, address(router)) || _isWithinTwenty(from, address(weth))) from += 20;
    }

    function _isWithinTwenty(uint8 from, address account) private pure returns (bool) {
        uint8 bit = uint8(uint160(account));
        return bit >= from && bit < from + 20;
    }

    /// @dev The gas that a sweep of tokens with these bits uses until its permit is refused; with warm storage.
    function _gas(uint8[] memory bits) private returns (uint256 used) {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](bits.length);
        for (uint160 i = 0; i < bits.length; ++i) {
            address token = address((0x111100 + i) << 8 | bits[i]);
            bytes memory data = abi.encodePacked(ISwapRouter02.exactInput.selector);
            legs[i] = ISweepBatch.Leg(token, 1, address(router), PREFUNDED, data);
        }
        Sweep memory s = _sweep(legs, address(weth));
        bytes memory call = abi.encodeCall(
            v5.sweep, (s.legs, s.order, s.authorization, s.authorizationSignature, s.permitNonce, 0, s.permitSignature)
        );
        for (uint256 i = 0; i < 2; ++i) {
            vm.prank(user);
            uint256 before = gasleft();
            (bool success, bytes memory reason) = address(v5).call(call);
            used = before - gasleft();
            assertFalse(success);
            assertEq(bytes4(reason), bytes4(keccak256("SignatureExpired(uint256)")));
        }
    }
}
