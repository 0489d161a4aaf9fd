// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {console} from "forge-std/console.sol";
import {Test} from "forge-std/Test.sol";
import {Reasons} from "./support/Reasons.sol";
import {SweepHandler} from "./support/SweepHandler.sol";

/// @title Invariants
/// @notice The rules that hold whatever anyone does, one sentence each. The handler checks all of them after every step
/// and records violations, which are asserted here. Each rule has a campaign with its own seed, because forge would
/// repeat the same steps otherwise; at the end of each run all rules are asserted. FOUNDRY_PROFILE=invariants makes a
/// million steps.
contract Invariants is Test {
    uint256 private constant WHOLE_RUN = 200; // steps of the profile "invariants"; shorter runs may lack something by chance

    SweepHandler private handler;

    function setUp() public {
        handler = new SweepHandler();
        handler.setUp();
        targetContract(address(handler));
        bytes4[] memory steps = new bytes4[](1);
        steps[0] = handler.act.selector;
        targetSelector(FuzzSelector(address(handler), steps));
    }

    /// @dev A whole run without any sweep proves nothing. The totals are appended to the file that INVARIANT_TALLY names.
    function afterInvariant() public {
        _assertNoViolation();
        if (handler.steps() < WHOLE_RUN) return;
        assertGt(handler.sweepsOfV5(), 0, "no sweep of V5 succeeded");
        assertGt(handler.sweepsOfV4(), 0, "no sweep of V4 succeeded");
        assertGt(handler.attempts(), 0, "no re-entry was attempted");
        string memory path = vm.envOr("INVARIANT_TALLY", string(""));
        if (bytes(path).length != 0) vm.writeLine(path, handler.tally());
    }

    function _assertNoViolation() private view {
        for (uint256 rule = 1; rule <= 13; ++rule) {
            assertFalse(handler.violated(rule), vm.toString(rule));
        }
    }

    /// forge-config: default.fuzz.seed = "0x01"
    function invariant_01_user_partner_and_protocol_amounts_equal_the_measured_output() public view {
        assertFalse(handler.violated(1));
    }

    /// forge-config: default.fuzz.seed = "0x02"
    function invariant_02_fees_round_down_and_never_exceed_the_cap() public view {
        assertFalse(handler.violated(2));
    }

    /// forge-config: default.fuzz.seed = "0x03"
    function invariant_03_the_user_receives_at_least_the_floors_of_the_legs_that_ran_or_nothing_changes() public view {
        assertFalse(handler.violated(3));
    }

    /// forge-config: default.fuzz.seed = "0x04"
    function invariant_04_the_contracts_balances_are_unchanged_by_sweeps() public view {
        assertFalse(handler.violated(4));
    }

    /// forge-config: default.fuzz.seed = "0x05"
    function invariant_05_no_allowance_outlives_the_call() public view {
        assertFalse(handler.violated(5));
    }

    /// forge-config: default.fuzz.seed = "0x06"
    function invariant_06_a_nonce_is_used_once_or_cancelled_once() public view {
        assertFalse(handler.violated(6));
    }

    /// forge-config: default.fuzz.seed = "0x07"
    function invariant_07_only_the_sender_is_debited_never_more_than_signed_and_nothing_for_legs_left_out()
        public
        view
    {
        assertFalse(handler.violated(7));
    }

    /// forge-config: default.fuzz.seed = "0x08"
    function invariant_08_legs_call_only_pools_of_listed_venues_and_listed_functions_of_routers() public view {
        assertFalse(handler.violated(8));
    }

    /// forge-config: default.fuzz.seed = "0x09"
    function invariant_09_no_reentry_succeeds_and_no_admin_function_runs_inside_a_sweep() public view {
        assertFalse(handler.violated(9));
    }

    /// forge-config: default.fuzz.seed = "0x0a"
    function invariant_10_a_sweep_that_was_invalid_or_changed_or_skips_more_than_allowed_never_succeeds() public view {
        assertFalse(handler.violated(10));
    }

    /// forge-config: default.fuzz.seed = "0x0b"
    function invariant_11_events_match_transfers_once_per_nonce_and_never_while_paused() public view {
        assertFalse(handler.violated(11));
    }

    /// forge-config: default.fuzz.seed = "0x0c"
    function invariant_12_idle_tokens_can_be_rescued_and_are_never_spent_by_a_sweep() public view {
        assertFalse(handler.violated(12));
    }

    /// forge-config: default.fuzz.seed = "0x0d"
    function invariant_13_no_code_of_a_swept_token_can_change_state_between_the_first_price_and_the_last() public view {
        assertFalse(handler.violated(13));
    }

    /// @dev A fixed sequence of steps reaches everything that the handler is meant to reach.
    function test_the_handler_reaches_every_outcome() public {
        for (uint256 i = 0; i < 3000; ++i) {
            handler.act(i, 0);
            vm.resetGasMetering();
        }
        console.log(handler.tally());
        _assertNoViolation();
        assertGt(handler.sweepsOfV5(), 200, "sweeps of V5");
        assertGt(handler.sweepsOfV4(), 200, "sweeps of V4");
        assertGt(handler.attempts(), 300, "re-entry attempts");
        assertTrue(handler.reachedEveryActor(), "every token, output and actor");
        Reasons.Reason[] memory reasons = Reasons.all();
        for (uint256 i = 0; i < reasons.length; ++i) {
            assertGt(handler.reached(reasons[i].selector), 0, reasons[i].name);
        }
        string[] memory features = Reasons.features();
        for (uint256 i = 0; i < features.length; ++i) {
            assertGt(handler.happened(features[i]), 0, features[i]);
        }
    }
}
