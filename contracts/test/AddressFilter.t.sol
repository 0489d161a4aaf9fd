// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {OutcomeTest} from "./support/OutcomeTest.sol";

/// @title AddressFilter
/// @notice Tokens are compared with each other only if their filter bits, given by the lowest bytes of their addresses,
/// are equal. This only saves gas; sharing a bit must not matter otherwise.
contract AddressFilter is OutcomeTest {
    uint256 private constant MARGIN = 500;

    /// @dev Compares the cost of checking legs of tokens that do not exist, with a permit that has expired.
    function test_a_token_is_compared_with_earlier_ones_only_if_its_filter_bit_is_set() public {
        uint8[] memory distinct = new uint8[](10);
        uint8[] memory pairs = new uint8[](10);
        uint8[] memory same = new uint8[](10);
        for (uint8 i = 0; i < 10; ++i) {
            (distinct[i], pairs[i], same[i]) = (i, i / 2 * 2, 0);
        }
        assertLt(_gas(distinct) + MARGIN, _gas(pairs));
        assertLt(_gas(pairs) + MARGIN, _gas(same));
    }

    /// @dev The gas that a sweep without tokens of these bits uses until its permit is refused; with warm storage.
    function _gas(uint8[] memory bits) private returns (uint256 used) {
        ISweepBatch.Route memory route = _route(new ISweepBatch.Leg[](bits.length));
        for (uint160 i = 0; i < bits.length; ++i) {
            route.legs[i] = ISweepBatch.Leg(address((0x111100 + i) << 8 | bits[i]), 1, 1, DROPPED);
        }
        route.maxSkipped = 30;
        Sweep memory s = _sweep(route, address(weth));
        s.permitDeadline = 0;
        bytes memory call = _dataOf(s);
        for (uint256 i = 0; i < 2; ++i) {
            vm.prank(user);
            uint256 before = gasleft();
            (bool success, bytes memory reason) = address(v5).call(call);
            used = before - gasleft();
            assertFalse(success);
            bytes memory expired = abi.encodeWithSignature("SignatureExpired(uint256)", 0);
            assertEq(reason, abi.encodeWithSelector(ISweepBatch.PullFailed.selector, expired));
        }
    }

    function test_different_tokens_with_the_same_filter_bit_are_swept() public {
        ISweepBatch.Leg[] memory legs = _legs(
            _v3Leg(usdc, 1_000e6), _v3Leg(_twin(address(usdc)), 1_000e18), _v2Leg(_twin(address(router)), 1_000e18)
        );
        assertGt(_grossOf(_sweep(_route(legs), address(weth))), 1.47e18);

        legs[2] = legs[0]; // a duplicate after the twin
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, address(usdc));
        _expectRevert(_sweep(_route(legs), address(weth)), expected);
    }

    function _twin(address account) private returns (IERC20 twin) {
        twin = _tokenAt(uint160(account) ^ (1 << 100));
        _addPools(twin, POOL_TOKENS * 1e18);
    }

    function _tokenAt(uint160 place) private returns (IERC20) {
        deployCodeTo(_artifact("MintableToken"), abi.encode("TWIN", "TWIN", uint8(18)), address(place));
        return IERC20(address(place));
    }

    function test_duplicates_are_found_for_every_filter_bit() public {
        uint8[6] memory lowestBytes = [0, 1, 2, 127, 254, 255];
        for (uint256 i = 0; i < lowestBytes.length; ++i) {
            IERC20 token = _tokenAt(uint160(0x111100) + lowestBytes[i]);
            ISweepBatch.Leg memory once = _leg(token, 1e18, DROPPED);
            ISweepBatch.Route memory route = _route(_legs(once, once));
            route.maxSkipped = 2;
            bytes memory expected = abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, address(token));
            _expectRevert(_sweep(route, address(weth)), expected);
        }
    }
}
