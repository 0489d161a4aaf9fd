// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ISwapRouter02, SweepTest} from "./support/SweepTest.sol";

/// @title CloserLooks
/// @notice Addresses are compared with each other only where their marks, the lowest bytes, say that they may be the same. That
/// only saves gas, so what is compared here is what checking legs costs: of tokens that do not exist, with a permission that ran out.
contract CloserLooks is SweepTest {
    uint256 private constant FEW = 500;

    function test_a_token_is_compared_with_those_before_it_only_if_its_mark_was_seen() public {
        uint8 from = _freeMarks();
        uint8[] memory apart = new uint8[](10);
        uint8[] memory pairs = new uint8[](10);
        uint8[] memory same = new uint8[](10);
        for (uint8 i = 0; i < 10; ++i) {
            (apart[i], pairs[i], same[i]) = (from + i, from + i / 2 * 2, from);
        }
        assertLt(_gas(apart) + FEW, _gas(pairs));
        assertLt(_gas(pairs) + FEW, _gas(same));
    }

    function test_a_router_is_compared_with_tokens_only_if_it_shares_a_mark_and_once_however_often_it_comes() public {
        uint256 forTen = _closerLook(10);
        assertGt(forTen, FEW);
        assertLt(_closerLook(20), 3 * forTen);
    }

    /// @dev What it costs more if one of the tokens shares the router's mark.
    function _closerLook(uint8 count) private returns (uint256) {
        uint8[] memory marks = new uint8[](count);
        for (uint8 i = 0; i < count; ++i) {
            marks[i] = _freeMarks() + i;
        }
        uint256 apart = _gas(marks);
        marks[0] = uint8(uint160(address(router)));
        return _gas(marks) - apart;
    }

    /// @dev The first of twenty marks that neither the router nor the output has; even.
    function _freeMarks() private view returns (uint8 from) {
        while (_isWithinTwenty(from, address(router)) || _isWithinTwenty(from, address(weth))) from += 20;
    }

    function _isWithinTwenty(uint8 from, address account) private pure returns (bool) {
        uint8 mark = uint8(uint160(account));
        return mark >= from && mark < from + 20;
    }

    /// @dev What a sweep of tokens with these marks takes until its permission is refused; everything it reads was read before.
    function _gas(uint8[] memory marks) private returns (uint256 used) {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](marks.length);
        for (uint160 i = 0; i < marks.length; ++i) {
            address token = address((0x111100 + i) << 8 | marks[i]);
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
