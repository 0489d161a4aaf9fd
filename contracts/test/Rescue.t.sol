// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {BlockingToken, CallingRecipient, RefusingRecipient} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Rescue
/// @notice What was sent here by mistake can be sent back, in full or in part, and only to where it can be had.
contract Rescue is SweepTest {
    address private loser = makeAddr("loser");

    function test_idle_tokens_are_rescued() public {
        _fund(address(usdt), address(v5), 700e6);
        vm.expectEmit(address(v5));
        emit ISweepBatch.Rescued(address(usdt), loser, 300e6);
        v5.rescue(address(usdt), loser, 300e6);
        assertEq(usdt.balanceOf(loser), 300e6);
        assertEq(usdt.balanceOf(address(v5)), 400e6);
    }

    function test_idle_coin_is_rescued() public {
        vm.deal(address(v5), 3e18);
        vm.expectEmit(address(v5));
        emit ISweepBatch.Rescued(NATIVE, loser, 2e18);
        v5.rescue(NATIVE, loser, 2e18);
        assertEq(loser.balance, 2e18);
        assertEq(address(v5).balance, 1e18);
    }

    function test_nothing_is_rescued_into_nowhere() public {
        vm.deal(address(v5), 1);
        address[3] memory nowhere = [address(0), address(v5), address(weth)];
        for (uint256 i = 0; i < nowhere.length; ++i) {
            vm.expectRevert(abi.encodeWithSelector(ISweepBatch.InvalidRecipient.selector, nowhere[i]));
            v5.rescue(NATIVE, nowhere[i], 1);
        }
    }

    function test_a_refused_rescue_reverts() public {
        vm.deal(address(v5), 1);
        address refusing = address(new RefusingRecipient());
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.NativeTransferFailed.selector, refusing, 1));
        v5.rescue(NATIVE, refusing, 1);

        BlockingToken blocking = new BlockingToken();
        blocking.mint(address(v5), 1);
        blocking.blockAccount(loser);
        vm.expectRevert(abi.encodeWithSelector(BlockingToken.Blocked.selector, loser));
        v5.rescue(address(blocking), loser, 1);
    }

    function test_who_is_rescued_cannot_enter_again() public {
        vm.deal(address(v5), 2);
        CallingRecipient recipient = new CallingRecipient();
        manager.grantRole(0, address(recipient), 0);
        recipient.arm(address(v5), abi.encodeCall(v5.rescue, (NATIVE, address(recipient), 1)));
        v5.rescue(NATIVE, address(recipient), 1);
        assertEq(recipient.refusal(), ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
        assertEq(address(recipient).balance, 1);
    }
}
