// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {console} from "forge-std/console.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Gas
/// @notice What a sweep costs as a transaction, intrinsic gas included, beside the bare swaps of the same tokens: V3 0.3 % pools
/// to the wrapped coin, three-way split, nonce words and balances of the recipients that are not zero any more.
contract Gas is SweepTest {
    using SafeERC20 for IERC20;

    uint256 private constant MAX_FIXED = 107_500; // a little over what was measured: pools sort by address, and the two directions differ
    uint256 private constant MAX_LEG = 89_500;

    IERC20[] private tokens;

    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < 5; ++i) {
            tokens.push(_listToken("MintableToken", string(abi.encodePacked("T", bytes1(uint8(48 + i)))), 18));
        }
        _fund(address(weth), user, 1e18);
        _fund(address(weth), partner, 1e18);
        _fund(address(weth), protocol, 1e18);
        // Uses one nonce of each word, and every pool once: the first swap of a pool's life pays for its slots.
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](5);
        for (uint256 i = 0; i < 5; ++i) {
            legs[i] = _v3Leg(tokens[i], 1_000e18, PREFUNDED);
        }
        _send(_sweep(legs, address(weth)));
        vm.warp(block.timestamp + 12); // the pools write their oracle in the first swap of a block
    }

    /// forge-config: default.isolate = true
    function test_a_prefunded_sweep_costs_no_more_than_it_did() public {
        uint256 one = _sweepGas(1, PREFUNDED);
        uint256 three = _sweepGas(3, PREFUNDED);
        uint256 five = _sweepGas(5, PREFUNDED);
        console.log("prefunded sweep of 1, 3, 5 legs:", one, three, five);
        uint256 leg = (five - one) / 4;
        console.log("fixed, a leg:", one - leg, leg);
        assertLe(leg, MAX_LEG, "a leg");
        assertLe(one - leg, MAX_FIXED, "fixed");
    }

    /// forge-config: default.isolate = true
    function test_gas_of_approved_sweeps() public {
        console.log(
            "approved sweep of 1, 3, 5 legs:", _sweepGas(1, APPROVED), _sweepGas(3, APPROVED), _sweepGas(5, APPROVED)
        );
    }

    /// forge-config: default.isolate = true
    function test_gas_of_the_bare_swaps() public {
        console.log("bare swaps of 1, 3, 5 tokens:", _bareGas(1), _bareGas(3), _bareGas(5));
    }

    function _sweepGas(uint256 count, uint8 funding) private returns (uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](count);
        for (uint256 i = 0; i < count; ++i) {
            legs[i] = _v3Leg(tokens[i], 1_000e18, funding);
        }
        Sweep memory s = _sweep(legs, address(weth));
        (s.order.authorizationNonce, s.authorization.nonce, s.permitNonce) = (8, 8, 12);
        _sign(s);
        _send(s);
        gasUsed = vm.lastCallGas().gasTotalUsed;
        vm.revertToState(snapshot);
    }

    function _bareGas(uint256 count) private returns (uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        for (uint256 i = 0; i < count; ++i) {
            _fund(address(tokens[i]), user, 1_000e18);
            vm.startPrank(user);
            tokens[i].forceApprove(address(router), type(uint256).max);
            router.exactInputSingle(
                ISwapRouter02.ExactInputSingleParams(address(tokens[i]), address(weth), POOL_FEE, user, 1_000e18, 1, 0)
            );
            gasUsed += vm.lastCallGas().gasTotalUsed;
            vm.stopPrank();
        }
        vm.revertToState(snapshot);
    }
}
