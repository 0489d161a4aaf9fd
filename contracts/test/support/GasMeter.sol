// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {console} from "forge-std/console.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {SweepV4Test} from "./SweepV4Test.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title GasMeter
/// @notice What a sweep costs as a transaction, intrinsic gas included and refunds deducted, beside the bare swaps of the same
/// tokens: V3 0.3 % pools to the wrapped coin, three-way split, nonce words and balances of the recipients that are not zero any
/// more. Tests that measure must be isolated, so that each call is a transaction of its own. Users empty their balances of what
/// they sweep, or keep one unit of each: an emptied balance gives back storage, and what a transaction is given back is capped
/// at a fifth of its gas (EIP-3529), which a sweep of many reaches and a bare swap does not.
abstract contract GasMeter is SweepV4Test {
    using SafeERC20 for IERC20;

    uint256 internal constant MOST_LEGS = 20;
    uint256 internal constant AMOUNT = 1_000e18;
    IERC20[] internal tokens;

    function setUp() public virtual override {
        super.setUp();
        while (tokens.length < MOST_LEGS) {
            IERC20 token = _listToken("MintableToken", vm.toString(tokens.length), 18);
            if (_isNext(token)) tokens.push(token);
        }
        _fund(address(weth), user, 1e18);
        _fund(address(weth), partner, 1e18);
        _fund(address(weth), protocol, 1e18);
        // Uses one nonce of each word, and every pool once: the first swap of a pool's life pays for its slots.
        _send(_sweep(_legsTo(address(v5), MOST_LEGS, PREFUNDED), address(weth)));
        vm.warp(block.timestamp + 12); // the pools write their oracle in the first swap of a block
    }

    function _v5Gas(uint256 count, uint8 funding, bool keeping) internal returns (uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        Sweep memory s = _sweep(_legsTo(address(v5), count, funding), address(weth));
        (s.order.authorizationNonce, s.authorization.nonce, s.permitNonce) = (8, 8, 12);
        _sign(s);
        _send(s);
        gasUsed = vm.lastCallGas().gasTotalUsed;
        vm.revertToState(snapshot);
        _log(funding == PREFUNDED ? "V5 prefunded" : "V5 approved", count, keeping, gasUsed);
    }

    function _v4Gas(uint256 count, uint8 funding, bool keeping) internal returns (uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        SweepV4 memory s = _sweepV4(_legsTo(address(v4), count, funding), address(weth));
        s.permitNonce = 12;
        _signV4(s);
        _sendV4(s);
        gasUsed = vm.lastCallGas().gasTotalUsed;
        vm.revertToState(snapshot);
        _log(funding == PREFUNDED ? "V4 prefunded" : "V4 approved", count, keeping, gasUsed);
    }

    /// @dev As many transactions as legs, by a user who approved the router for all of each token before. The approvals are
    /// measured, too: they are for users who did not.
    function _bareGas(uint256 count, bool keeping) internal returns (uint256 swaps, uint256 approvals) {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        for (uint256 i = 0; i < count; ++i) {
            _fund(address(tokens[i]), user, AMOUNT);
            vm.startPrank(user);
            tokens[i].approve(address(router), type(uint256).max);
            approvals += vm.lastCallGas().gasTotalUsed;
            router.exactInputSingle(
                ISwapRouter02.ExactInputSingleParams(address(tokens[i]), address(weth), POOL_FEE, user, AMOUNT, 1, 0)
            );
            swaps += vm.lastCallGas().gasTotalUsed;
            vm.stopPrank();
        }
        vm.revertToState(snapshot);
        _log("bare swaps", count, keeping, swaps);
        _log("bare swaps with approvals", count, keeping, swaps + approvals);
    }

    /// @dev What chance does to addresses is kept out of the figures: every other token stands before the wrapped coin in its
    /// pool, which is a little cheaper to swap, and none shares the router's mark, for which the contracts look closer.
    function _isNext(IERC20 token) private view returns (bool) {
        bool before = address(token) < address(weth);
        return before == (tokens.length % 2 == 0) && uint8(uint160(address(token))) != uint8(uint160(address(router)));
    }

    function _giveOneUnitOfEach() internal {
        for (uint256 i = 0; i < MOST_LEGS; ++i) {
            _fund(address(tokens[i]), user, 1);
        }
    }

    /// @dev bin/bench-gas.mjs reads these lines.
    function _log(string memory way, uint256 count, bool keeping, uint256 gasUsed) internal pure {
        console.log(string.concat("gas: ", way, "; ", keeping ? "keeping" : "emptied", ";"), count, gasUsed);
    }

    function _legsTo(address recipient, uint256 count, uint8 funding) private returns (ISweepBatch.Leg[] memory legs) {
        legs = new ISweepBatch.Leg[](count);
        for (uint256 i = 0; i < count; ++i) {
            legs[i] = _v3LegTo(tokens[i], address(weth), AMOUNT, funding, recipient);
        }
    }
}
