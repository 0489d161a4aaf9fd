// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Vm} from "forge-std/Vm.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {Executed} from "./Executed.sol";
import {SweepTest} from "./SweepTest.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title OutcomeTest
/// @notice Checks what holds for every sweep that succeeds: events, transfers and formulas agree, the user is debited
/// the signed amounts of the legs that ran and receives at least their floors, and nothing is left behind.
abstract contract OutcomeTest is SweepTest {
    using SafeERC20 for IERC20;

    struct Skip {
        uint256 leg;
        ISweepBatch.SkipReason reason;
    }

    /// @dev Balances before a sweep.
    struct Before {
        uint256 ofPartner;
        uint256 ofProtocol;
        uint256 ofUser;
        uint256[] debited;
        uint256[] inBatch;
        uint256[] inRouter;
    }

    function _sendAndVerify(Sweep memory s) internal returns (Executed memory) {
        return _sendAndVerify(s, new Skip[](0));
    }

    /// @dev Expects exactly these legs to be left out, in this order.
    function _sendAndVerify(Sweep memory s, Skip[] memory skips) internal returns (Executed memory e) {
        Before memory before = _balances(s);
        vm.recordLogs();
        _send(s);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 skipped = _verifySkips(s, skips, logs);
        e = _executed(s, logs[logs.length - 1]);

        address output = s.authorization.outputToken;
        assertEq(_balance(output, s.authorization.partnerRecipient) - before.ofPartner, e.partnerFee, "partner");
        assertEq(_balance(output, s.authorization.protocolRecipient) - before.ofProtocol, e.protocolFee, "protocol");
        assertEq(_balance(output, s.sender) - before.ofUser, e.userAmount, "user");
        assertEq(e.userAmount + e.partnerFee + e.protocolFee, e.grossOutput, "sum of the shares");
        assertEq(e.totalFee, e.grossOutput * s.authorization.totalFeeBps / 10_000, "total fee");
        assertEq(e.partnerFee, e.totalFee * s.authorization.partnerShareBps / 10_000, "partner fee");
        _verifyLegs(s, before, e, skipped);
    }

    /// @dev Sends the sweep, returns its gross output, and reverts the state.
    function _grossOf(Sweep memory s) internal returns (uint256 grossOutput) {
        uint256 snapshot = vm.snapshotState();
        grossOutput = _sendAndVerify(s).grossOutput;
        vm.revertToState(snapshot);
    }

    /// @dev How much of `amount` the V3 pool of two tokens takes, and what it pays for it.
    function _fill(IERC20 tokenIn, IERC20 tokenOut, uint256 amount) internal returns (uint256 taken, uint256 paid) {
        uint256 snapshot = vm.snapshotState();
        _fund(address(tokenIn), address(this), amount);
        tokenIn.forceApprove(address(router), amount);
        uint256 held = tokenIn.balanceOf(address(this));
        paid = router.exactInputSingle(
            ISwapRouter02.ExactInputSingleParams({
                tokenIn: address(tokenIn),
                tokenOut: address(tokenOut),
                fee: POOL_FEE,
                recipient: address(this),
                amountIn: amount,
                amountOutMinimum: 0,
                sqrtPriceLimitX96: 0
            })
        );
        taken = held - tokenIn.balanceOf(address(this));
        vm.revertToState(snapshot);
    }

    function _skips(uint256 leg, ISweepBatch.SkipReason reason) internal pure returns (Skip[] memory skips) {
        skips = new Skip[](1);
        skips[0] = Skip(leg, reason);
    }

    function _balance(address token, address account) internal view returns (uint256) {
        return token == NATIVE ? account.balance : IERC20(token).balanceOf(account);
    }

    function _balances(Sweep memory s) private view returns (Before memory before) {
        address output = s.authorization.outputToken;
        before.ofPartner = _balance(output, s.authorization.partnerRecipient);
        before.ofProtocol = _balance(output, s.authorization.protocolRecipient);
        before.ofUser = _balance(output, s.sender);
        before.debited = _held(s, s.sender);
        before.inBatch = _held(s, address(v5));
        before.inRouter = _held(s, address(router));
    }

    /// @dev The balances of all tokens, the output and the wrapped native token.
    function _held(Sweep memory s, address account) private view returns (uint256[] memory held) {
        uint256 count = s.route.legs.length;
        held = new uint256[](count + 2);
        for (uint256 i = 0; i < count; ++i) {
            held[i] = _balance(s.route.legs[i].token, account);
        }
        (held[count], held[count + 1]) = (_balance(s.authorization.outputToken, account), weth.balanceOf(account));
    }

    function _verifySkips(Sweep memory s, Skip[] memory skips, Vm.Log[] memory logs)
        private
        view
        returns (uint256 skipped)
    {
        uint256 found = 0;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != ISweepBatch.LegSkipped.selector) continue;
            assertLt(found, skips.length, "a leg was left out");
            assertEq(logs[i].emitter, address(v5));
            assertEq(uint256(logs[i].topics[1]), s.authorization.nonce);
            Skip memory expected = skips[found++];
            assertEq(logs[i].data, abi.encode(expected.leg, s.route.legs[expected.leg].token, expected.reason));
            skipped |= 1 << expected.leg;
        }
        assertEq(found, skips.length, "a leg was not left out");
    }

    function _executed(Sweep memory s, Vm.Log memory last) private view returns (Executed memory e) {
        assertEq(last.emitter, address(v5));
        assertEq(last.topics[0], IV5.SweepExecutedV5.selector);
        assertEq(uint256(last.topics[1]), s.authorization.nonce);
        assertEq(address(uint160(uint256(last.topics[2]))), s.sender);
        assertEq(last.topics[3], s.authorization.partnerId);
        e = abi.decode(last.data, (Executed));
        assertEq(e.partnerRecipient, s.authorization.partnerRecipient);
        assertEq(e.protocolRecipient, s.authorization.protocolRecipient);
        assertEq(e.outputToken, s.authorization.outputToken);
        assertEq(e.tokenCount, s.route.legs.length);
    }

    function _verifyLegs(Sweep memory s, Before memory before, Executed memory e, uint256 skipped) private view {
        uint256[] memory held = _held(s, s.sender);
        uint256 floors = 0;
        for (uint256 i = 0; i < s.route.legs.length; ++i) {
            ISweepBatch.Leg memory leg = s.route.legs[i];
            bool ran = skipped >> i & 1 == 0;
            assertEq(before.debited[i] - held[i], ran ? leg.amount : 0, "debited");
            assertEq(IERC20(leg.token).allowance(address(v5), address(router)), 0, "approval left");
            if (ran) floors += leg.floor;
        }
        assertGe(e.userAmount, floors, "floors");
        assertEq(_held(s, address(v5)), before.inBatch, "left in the contract");
        assertEq(_held(s, address(router)), before.inRouter, "left in the router");
    }
}
