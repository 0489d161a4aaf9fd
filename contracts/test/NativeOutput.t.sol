// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {BurningRecipient, ContractWallet, RefusingRecipient, ShoutingRecipient} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title NativeOutput
/// @notice Sweeps into the chain's coin: measured wrapped, paid unwrapped, and not to be held up by a fee recipient.
contract NativeOutput is SweepTest {
    uint256 private constant WRAPPED = 2e18;

    /// @dev Two wrapped coins, no swap: the gross output is known to the unit.
    function _unwrapSweep() private returns (Sweep memory) {
        return _sweep(_legs(_wethLeg(WRAPPED)), NATIVE);
    }

    function test_the_wrapped_coin_is_unwrapped_and_split() public {
        _send(_unwrapSweep());
        assertEq(partner.balance, 0.006e18); // 40 % of 75 bps of two
        assertEq(protocol.balance, 0.009e18);
        assertEq(user.balance, 1.985e18);
        assertEq(address(v5).balance, 0);
        assertEq(weth.balanceOf(address(v5)), 0);
    }

    function test_the_event_names_the_native_coin() public {
        Sweep memory s = _unwrapSweep();
        vm.expectEmit(address(v5));
        emit IV5.SweepExecutedV5(
            7, user, PARTNER_ID, partner, protocol, NATIVE, 1, WRAPPED, 0.015e18, 0.006e18, 0.009e18, 1.985e18
        );
        _send(s);
    }

    function test_swapped_and_unwrapped_legs_add_up() public {
        for (uint256 i = 0; i < 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            ISweepBatch.Leg[] memory legs = _legs(_wethLeg(WRAPPED), _v3Leg(usdc, 1_000e6, PREFUNDED));
            if (i == 1) (legs[0], legs[1]) = (legs[1], legs[0]); // the unrouted leg may stand anywhere
            _send(_sweep(legs, NATIVE));
            assertGt(user.balance, 2.47e18);
            assertEq(address(v5).balance + weth.balanceOf(address(v5)), 0);
            vm.revertToState(snapshot);
        }
    }

    function test_a_leg_without_a_router_calls_nobody() public {
        vm.expectCall(address(0), "", 0);
        _send(_unwrapSweep());
    }

    function test_idle_coin_and_idle_wrapped_coin_stay() public {
        vm.deal(address(v5), 3e18);
        _fund(address(weth), address(v5), 4e18);
        _send(_unwrapSweep());
        assertEq(user.balance, 1.985e18);
        assertEq(address(v5).balance, 3e18);
        assertEq(weth.balanceOf(address(v5)), 4e18);
    }

    function test_a_fee_recipient_that_does_not_take_coin_is_paid_wrapped() public {
        address[3] memory recipients =
            [address(new RefusingRecipient()), address(new BurningRecipient()), address(new ShoutingRecipient())];
        for (uint256 i = 0; i < recipients.length; ++i) {
            uint256 snapshot = vm.snapshotState();
            _expectPaidWrapped(recipients[i], protocol, recipients[i], 0.006e18);
            vm.revertToState(snapshot);
            snapshot = vm.snapshotState();
            _expectPaidWrapped(partner, recipients[i], recipients[i], 0.009e18);
            vm.revertToState(snapshot);
        }
    }

    function _expectPaidWrapped(address partner_, address protocol_, address refusing, uint256 amount) private {
        Sweep memory s = _unwrapSweep();
        (s.authorization.partnerRecipient, s.authorization.protocolRecipient) = (partner_, protocol_);
        _sign(s);
        vm.expectEmit(address(v5));
        emit ISweepBatch.PaidWrapped(refusing, amount);
        _send(s);
        assertEq(weth.balanceOf(refusing), amount);
        assertEq(refusing.balance, 0);
        assertEq(user.balance, 1.985e18);
        assertEq(address(v5).balance + weth.balanceOf(address(v5)), 0);
    }

    function test_a_recipient_cannot_make_the_user_pay_for_its_appetite() public {
        Sweep memory s = _unwrapSweep();
        s.authorization.partnerRecipient = address(new BurningRecipient());
        _sign(s);
        uint256 before = gasleft();
        _send(s);
        assertLt(before - gasleft(), 350_000);
    }

    /// @dev The recipient's code stores the gas it finds: GAS (which costs two), PUSH0, SSTORE.
    function test_a_fee_recipient_gets_fifty_thousand_gas_and_the_stipend() public {
        vm.etch(partner, hex"5a5f55");
        _send(_unwrapSweep());
        assertEq(uint256(vm.load(partner, 0)), 50_000 + 2_300 - 2);
        assertEq(partner.balance, 0.006e18);
    }

    function test_a_user_that_does_not_take_coin_reverts() public {
        user = address(new ContractWallet(false));
        Sweep memory s = _unwrapSweep();
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NativeTransferFailed.selector, user, 1.985e18));
    }

    function test_a_contract_user_that_takes_coin_is_paid() public {
        user = address(new ContractWallet(true));
        _send(_unwrapSweep());
        assertEq(user.balance, 1.985e18);
    }

    function test_the_minimum_holds_for_the_coin() public {
        Sweep memory s = _unwrapSweep();
        s.order.minUserOutput = 1.985e18 + 1;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, 1.985e18, 1.985e18 + 1));
    }

    function test_coin_comes_in_only_by_unwrapping() public {
        vm.deal(user, 1e18);
        vm.prank(user);
        (bool accepted, bytes memory reason) = address(v5).call{value: 1e18}("");
        assertFalse(accepted);
        assertEq(reason, abi.encodeWithSelector(ISweepBatch.UnexpectedNative.selector, user, 1e18));
    }
}
