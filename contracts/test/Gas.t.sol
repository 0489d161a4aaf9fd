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

    uint256 private constant LEGS = 10;
    IERC20[] private tokens;

    function setUp() public override {
        super.setUp();
        for (uint256 i = 0; i < LEGS; ++i) {
            tokens.push(_listToken("MintableToken", vm.toString(i), 18));
        }
        _fund(address(weth), user, 1e18);
        _fund(address(weth), partner, 1e18);
        _fund(address(weth), protocol, 1e18);
        // Uses one nonce of each word, and every pool once: the first swap of a pool's life pays for its slots.
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](LEGS);
        for (uint256 i = 0; i < LEGS; ++i) {
            legs[i] = _v3Leg(tokens[i], 1_000e18, PREFUNDED);
        }
        _send(_sweep(legs, address(weth)));
        vm.warp(block.timestamp + 12); // the pools write their oracle in the first swap of a block
    }

    /// forge-config: default.isolate = true
    function test_gas_is_that_of_the_snapshot() public {
        uint256 one = _sweepGas(1, PREFUNDED);
        uint256 three = _sweepGas(3, PREFUNDED);
        uint256 ten = _sweepGas(LEGS, PREFUNDED);
        _expectAtMost("prefunded, 1 leg", one, 191_500);
        _expectAtMost("prefunded, 3 legs", three, 364_500);
        _expectAtMost("prefunded, 5 legs", _sweepGas(5, PREFUNDED), 541_000);
        _expectAtMost("prefunded, 10 legs", ten, 982_000);
        _expectAtMost("prefunded, a further leg", (three - one) / 2, 87_000);
        _expectAtMost("prefunded, fixed", one - (three - one) / 2, 105_000);
        _expectAtMost("approved, 1 leg", _sweepGas(1, APPROVED), 213_500);
        _expectAtMost("approved, 3 legs", _sweepGas(3, APPROVED), 437_500);
        _expectAtMost("approved, 5 legs", _sweepGas(5, APPROVED), 662_000);
        _expectAtMost("approved, 10 legs", _sweepGas(LEGS, APPROVED), 1_225_000);
        _expectAtMost("ten prefunded legs per mille of ten bare swaps", ten * 1000 / _bareGas(LEGS), 970);
    }

    /// @dev A user who keeps something of each token gets back no storage, neither in the bare swaps, where the refund of each
    /// transaction would count in full, nor in the sweep, where refunds are capped at a fifth of the gas anyway (EIP-3529).
    /// forge-config: default.isolate = true
    function test_ten_legs_cost_less_than_ten_bare_swaps() public {
        assertLt(_sweepGas(LEGS, PREFUNDED), _bareGas(LEGS), "emptying the balances");
        for (uint256 i = 0; i < LEGS; ++i) {
            _fund(address(tokens[i]), user, 1);
        }
        uint256 perMille = _sweepGas(LEGS, PREFUNDED) * 1000 / _bareGas(LEGS);
        _expectAtMost("the same, keeping something of each token", perMille, 950);
    }

    /// @dev The log is the figure; the bound is what it was, with a little for the addresses, by which pools sort their tokens.
    function _expectAtMost(string memory what, uint256 figure, uint256 snapshot) private pure {
        console.log(what, figure);
        assertLe(figure, snapshot, what);
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
