// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {console} from "forge-std/console.sol";
import {Test} from "forge-std/Test.sol";
import {SweepHandler} from "./support/SweepHandler.sol";

/// @title Invariants
/// @notice The rules that hold whatever anybody does, each a sentence. The handler compares after every step; here stands what it
/// compared. FOUNDRY_PROFILE=invariants runs a million steps.
contract Invariants is Test {
    SweepHandler private handler;

    function setUp() public {
        handler = new SweepHandler();
        handler.setUp();
        targetContract(address(handler));
        bytes4[] memory steps = new bytes4[](1);
        steps[0] = handler.act.selector;
        targetSelector(FuzzSelector(address(handler), steps));
    }

    /// @dev A run in which nothing was swept proves nothing.
    function afterInvariant() public view {
        assertGt(handler.sweeps(), 0, "no sweep succeeded");
        assertGt(handler.intrusionsRefused(), 0, "nobody tried to enter again");
    }

    function invariant_01_user_partner_and_protocol_amounts_equal_the_measured_output() public view {
        assertFalse(handler.broken(1));
    }

    function invariant_02_fees_are_the_floors_of_their_formulas_and_never_above_the_cap() public view {
        assertFalse(handler.broken(2));
    }

    function invariant_03_the_user_gets_at_least_the_minimum_or_nothing_changes() public view {
        assertFalse(handler.broken(3));
    }

    function invariant_04_the_contract_holds_the_same_before_and_after() public view {
        assertFalse(handler.broken(4));
    }

    function invariant_05_no_allowance_outlives_the_call() public view {
        assertFalse(handler.broken(5));
    }

    function invariant_06_a_nonce_succeeds_once_or_is_cancelled_once() public view {
        assertFalse(handler.broken(6));
    }

    function invariant_07_only_the_sender_is_debited_and_never_more_than_signed() public view {
        assertFalse(handler.broken(7));
    }

    function invariant_08_only_listed_functions_are_called_and_never_of_permit2_this_or_a_token() public view {
        assertFalse(handler.broken(8));
    }

    function invariant_09_nobody_enters_again_and_no_admin_function_runs_inside_a_sweep() public view {
        assertFalse(handler.broken(9));
    }

    function invariant_10_what_was_changed_after_signing_or_signed_wrongly_never_runs() public view {
        assertFalse(handler.broken(10));
    }

    function invariant_11_the_event_equals_the_transfers_one_a_nonce_and_none_while_paused() public view {
        assertFalse(handler.broken(11));
    }

    function invariant_12_idle_tokens_can_be_rescued_and_are_never_spent_by_a_sweep() public view {
        assertFalse(handler.broken(12));
    }

    /// @dev That the steps reach what they are made to reach, with one fixed sequence.
    function test_the_steps_reach_every_outcome() public {
        for (uint256 i = 0; i < 1000; ++i) {
            handler.act(uint256(keccak256(abi.encode(i))));
        }
        console.log("sweeps, refusals, intrusions:", handler.sweeps(), handler.refusals(), handler.intrusionsRefused());
        assertGt(handler.sweeps(), 200, "sweeps");
        assertGt(handler.intrusionsRefused(), 40, "intrusions");
        bytes4[17] memory reasons = [
            Pausable.EnforcedPause.selector,
            IV5.WrongUser.selector,
            IV5.AuthorizationExpired.selector,
            IV5.LegsHashMismatch.selector,
            IV5.InvalidAuthorizationSignature.selector,
            IV5.NonceAlreadyUsed.selector,
            IV5.NonceMismatch.selector,
            IV5.PartnerMismatch.selector,
            IV5.PartnerShareAboveWhole.selector,
            ISweepBatch.TotalFeeAboveCap.selector,
            ISweepBatch.InvalidRecipient.selector,
            ISweepBatch.LegCountOutOfRange.selector,
            ISweepBatch.ZeroLegAmount.selector,
            ISweepBatch.DuplicateToken.selector,
            ISweepBatch.UnknownFunding.selector,
            ISweepBatch.SelectorMissing.selector,
            ISweepBatch.InsufficientUserOutput.selector
        ];
        for (uint256 i = 0; i < reasons.length; ++i) {
            assertTrue(handler.reached(reasons[i]), vm.toString(reasons[i]));
        }
        for (uint256 rule = 1; rule <= 12; ++rule) {
            assertFalse(handler.broken(rule), vm.toString(rule));
        }
    }
}
