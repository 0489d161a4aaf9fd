// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {console} from "forge-std/console.sol";
import {Test} from "forge-std/Test.sol";
import {Reasons} from "./support/Reasons.sol";
import {SweepHandler} from "./support/SweepHandler.sol";

/// @title Invariants
/// @notice The rules that hold whatever anybody does, each a sentence. The handler compares after every step; here stands what it
/// compared. Each rule has a campaign of its own, with a seed of its own, because forge would make the same steps in all of them;
/// at the end of each run all the rules are held against it. FOUNDRY_PROFILE=invariants makes a million steps.
contract Invariants is Test {
    uint256 private constant WHOLE_RUN = 60; // steps; what is shorter is a part that forge tries to find a failure in

    SweepHandler private handler;

    function setUp() public {
        handler = new SweepHandler();
        handler.setUp();
        targetContract(address(handler));
        bytes4[] memory steps = new bytes4[](1);
        steps[0] = handler.act.selector;
        targetSelector(FuzzSelector(address(handler), steps));
    }

    /// @dev A run in which nothing was swept proves nothing. What a long campaign came to is kept where INVARIANT_TALLY says.
    function afterInvariant() public {
        _assertNothingBroken();
        if (handler.steps() < WHOLE_RUN) return;
        assertGt(handler.sweepsOfV5(), 0, "no sweep of V5 succeeded");
        assertGt(handler.sweepsOfV4(), 0, "no sweep of V4 succeeded");
        assertGt(handler.knocks(), 0, "nobody tried to enter again");
        string memory path = vm.envOr("INVARIANT_TALLY", string(""));
        if (bytes(path).length != 0) vm.writeLine(path, handler.tally());
    }

    function _assertNothingBroken() private view {
        for (uint256 rule = 1; rule <= 12; ++rule) {
            assertFalse(handler.broken(rule), vm.toString(rule));
        }
    }

    /// forge-config: default.fuzz.seed = "0x01"
    function invariant_01_user_partner_and_protocol_amounts_equal_the_measured_output() public view {
        assertFalse(handler.broken(1));
    }

    /// forge-config: default.fuzz.seed = "0x02"
    function invariant_02_fees_are_the_floors_of_their_formulas_and_never_above_the_cap() public view {
        assertFalse(handler.broken(2));
    }

    /// forge-config: default.fuzz.seed = "0x03"
    function invariant_03_the_user_gets_at_least_the_minimum_or_nothing_changes() public view {
        assertFalse(handler.broken(3));
    }

    /// forge-config: default.fuzz.seed = "0x04"
    function invariant_04_the_contract_holds_the_same_before_and_after() public view {
        assertFalse(handler.broken(4));
    }

    /// forge-config: default.fuzz.seed = "0x05"
    function invariant_05_no_allowance_outlives_the_call() public view {
        assertFalse(handler.broken(5));
    }

    /// forge-config: default.fuzz.seed = "0x06"
    function invariant_06_a_nonce_succeeds_once_or_is_cancelled_once() public view {
        assertFalse(handler.broken(6));
    }

    /// forge-config: default.fuzz.seed = "0x07"
    function invariant_07_only_the_sender_is_debited_and_never_more_than_signed() public view {
        assertFalse(handler.broken(7));
    }

    /// forge-config: default.fuzz.seed = "0x08"
    function invariant_08_only_listed_functions_are_called_and_never_of_permit2_this_or_a_token() public view {
        assertFalse(handler.broken(8));
    }

    /// forge-config: default.fuzz.seed = "0x09"
    function invariant_09_nobody_enters_again_and_no_admin_function_runs_inside_a_sweep() public view {
        assertFalse(handler.broken(9));
    }

    /// forge-config: default.fuzz.seed = "0x0a"
    function invariant_10_what_was_changed_after_signing_or_signed_wrongly_never_runs() public view {
        assertFalse(handler.broken(10));
    }

    /// forge-config: default.fuzz.seed = "0x0b"
    function invariant_11_the_event_equals_the_transfers_one_a_nonce_and_none_while_paused() public view {
        assertFalse(handler.broken(11));
    }

    /// forge-config: default.fuzz.seed = "0x0c"
    function invariant_12_idle_tokens_can_be_rescued_and_are_never_spent_by_a_sweep() public view {
        assertFalse(handler.broken(12));
    }

    /// @dev That the steps reach what they are made to reach, with one fixed sequence.
    function test_the_steps_reach_every_outcome() public {
        for (uint256 i = 0; i < 3000; ++i) {
            handler.act(i, 0);
            vm.resetGasMetering();
        }
        console.log(handler.tally());
        _assertNothingBroken();
        assertGt(handler.sweepsOfV5(), 300, "sweeps of V5");
        assertGt(handler.sweepsOfV4(), 300, "sweeps of V4");
        assertGt(handler.knocks(), 300, "intrusions");
        assertTrue(handler.reachedEverybody(), "every token, output and intruder");
        Reasons.Reason[] memory reasons = Reasons.all();
        for (uint256 i = 0; i < reasons.length; ++i) {
            assertGt(handler.reached(reasons[i].selector), 0, reasons[i].name);
        }
    }
}
