// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {GasBurningRecipient, ContractWallet, RejectingRecipient, ReturnBombRecipient} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title NativeOutput
/// @notice Sweeps into the native coin: measured in the wrapped native token, paid unwrapped, and not blocked by a fee
/// recipient.
contract NativeOutput is SweepTest {
    uint256 private constant WRAPPED = 2e18;

    /// @dev Two WETH without a swap: the gross output is exactly known.
    function _unwrapSweep() private returns (Sweep memory) {
        return _sweep(_route(_legs(_wethLeg(WRAPPED))), NATIVE);
    }

    function test_the_wrapped_native_token_is_unwrapped_and_split() public {
        _send(_unwrapSweep());
        assertEq(partner.balance, 0.006e18); // 40 % of 75 bps of 2 WETH
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
            ISweepBatch.Leg[] memory legs = _legs(_wethLeg(WRAPPED), _v3Leg(usdc, 1_000e6));
            if (i == 1) (legs[0], legs[1]) = (legs[1], legs[0]); // the unwrapped leg may have any index
            _send(_sweep(_route(legs), NATIVE));
            assertGt(user.balance, 2.47e18);
            assertEq(address(v5).balance + weth.balanceOf(address(v5)), 0);
            vm.revertToState(snapshot);
        }
    }

    function test_an_unwrapped_leg_makes_no_call() public {
        vm.expectCall(address(0), "", 0);
        _send(_unwrapSweep());
    }

    function test_idle_native_coin_and_wrapped_native_token_are_not_spent() public {
        vm.deal(address(v5), 3e18);
        _fund(address(weth), address(v5), 4e18);
        _send(_unwrapSweep());
        assertEq(user.balance, 1.985e18);
        assertEq(address(v5).balance, 3e18);
        assertEq(weth.balanceOf(address(v5)), 4e18);
    }

    function test_a_fee_recipient_that_rejects_the_native_coin_is_paid_wrapped() public {
        address[3] memory recipients =
            [address(new RejectingRecipient()), address(new GasBurningRecipient()), address(new ReturnBombRecipient())];
        for (uint256 i = 0; i < recipients.length; ++i) {
            uint256 snapshot = vm.snapshotState();
            _expectPaidWrapped(recipients[i], protocol, recipients[i], 0.006e18);
            vm.revertToState(snapshot);
            snapshot = vm.snapshotState();
            _expectPaidWrapped(partner, recipients[i], recipients[i], 0.009e18);
            vm.revertToState(snapshot);
        }
    }

    function _expectPaidWrapped(address partner_, address protocol_, address rejecting, uint256 amount) private {
        Sweep memory s = _unwrapSweep();
        (s.authorization.partnerRecipient, s.authorization.protocolRecipient) = (partner_, protocol_);
        _sign(s);
        vm.expectEmit(address(v5));
        emit ISweepBatch.PaidWrapped(rejecting, amount);
        _send(s);
        assertEq(weth.balanceOf(rejecting), amount);
        assertEq(rejecting.balance, 0);
        assertEq(user.balance, 1.985e18);
        assertEq(address(v5).balance + weth.balanceOf(address(v5)), 0);
    }

    function test_a_gas_burning_fee_recipient_costs_the_sender_little() public {
        Sweep memory s = _unwrapSweep();
        s.authorization.partnerRecipient = address(new GasBurningRecipient());
        _sign(s);
        uint256 before = gasleft();
        _send(s);
        assertLt(before - gasleft(), 350_000);
    }

    /// @dev The recipient's code stores its remaining gas: GAS (which costs two), PUSH0, SSTORE.
    function test_a_fee_recipient_gets_fifty_thousand_gas_and_the_stipend() public {
        vm.etch(partner, hex"5a5f55");
        _send(_unwrapSweep());
        assertEq(uint256(vm.load(partner, 0)), 50_000 + 2_300 - 2);
        assertEq(partner.balance, 0.006e18);
    }

    function test_a_user_that_rejects_the_native_coin_makes_the_sweep_revert() public {
        user = address(new ContractWallet(false));
        Sweep memory s = _unwrapSweep();
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.NativeTransferFailed.selector, user, 1.985e18));
    }

    function test_a_contract_user_that_accepts_the_native_coin_is_paid() public {
        user = address(new ContractWallet(true));
        _send(_unwrapSweep());
        assertEq(user.balance, 1.985e18);
    }

    /// @dev Nothing can change what it brings, so this is known before anything moves.
    function test_the_floor_of_an_unwrapped_leg_applies() public {
        Sweep memory s = _unwrapSweep();
        s.route.legs[0].floor = 1.985e18;
        _sign(s);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        vm.revertToState(snapshot);
        s.route.legs[0].floor += 1;
        _sign(s);
        _expectRevert(s, _belowLeast(0, WRAPPED, WRAPPED + 2)); // of one unit more, the fee still leaves too little
    }

    function test_joined_legs_are_not_needed_for_the_native_coin() public {
        ISweepBatch.Leg[] memory legs = _legs(_v2Leg(wbtc, 1_000e8), _v3Leg(usdc, 1_000e6));
        _send(_sweep(_route(legs), NATIVE));
        assertGt(user.balance, 0.98e18);
        assertEq(address(v5).balance + weth.balanceOf(address(v5)), 0);
    }

    function test_native_coin_is_accepted_from_the_wrapped_native_token_only() public {
        vm.deal(user, 1e18);
        vm.prank(user);
        (bool accepted, bytes memory reason) = address(v5).call{value: 1e18}("");
        assertFalse(accepted);
        assertEq(reason, abi.encodeWithSelector(ISweepBatch.UnexpectedNative.selector, user, 1e18));
    }
}
