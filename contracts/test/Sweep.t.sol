// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {BlockingToken} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";
import {Vm} from "forge-std/Vm.sol";

/// @title Sweep
/// @notice What a sweep does to everybody's balances, for every kind of route, funding and token, and that nothing is left behind.
contract SweepOutcome is SweepTest {
    /// @dev The part of the event that is not indexed.
    struct Executed {
        address partnerRecipient;
        address protocolRecipient;
        address outputToken;
        uint256 tokenCount;
        uint256 grossOutput;
        uint256 totalFee;
        uint256 partnerFee;
        uint256 protocolFee;
        uint256 userAmount;
    }

    /// @dev Sends the sweep and holds it to the promises of every sweep: event, transfers and formulas say the same, the user is
    /// debited what was signed, and contract and router keep nothing.
    function _sendAndVerify(Sweep memory s) private returns (Executed memory e) {
        IERC20 output = IERC20(s.order.outputToken);
        address[3] memory payees = [partner, protocol, s.sender];
        uint256[3] memory balances;
        for (uint256 i = 0; i < 3; ++i) {
            balances[i] = output.balanceOf(payees[i]);
        }
        uint256[] memory held = new uint256[](s.legs.length);
        for (uint256 i = 0; i < s.legs.length; ++i) {
            held[i] = IERC20(s.legs[i].token).balanceOf(s.sender);
        }

        vm.recordLogs();
        _send(s);
        e = _executed(s);

        assertEq(output.balanceOf(partner) - balances[0], e.partnerFee, "partner");
        assertEq(output.balanceOf(protocol) - balances[1], e.protocolFee, "protocol");
        assertEq(output.balanceOf(s.sender) - balances[2], e.userAmount, "user");
        assertEq(e.userAmount + e.partnerFee + e.protocolFee, e.grossOutput, "to the unit");
        assertEq(e.totalFee, e.grossOutput * s.order.totalFeeBps / 10_000, "total fee");
        assertEq(e.partnerFee, e.totalFee * s.authorization.partnerShareBps / 10_000, "partner's part");
        for (uint256 i = 0; i < s.legs.length; ++i) {
            assertEq(held[i] - IERC20(s.legs[i].token).balanceOf(s.sender), s.legs[i].amount, "debited");
        }
        _assertNothingLeft(s);
    }

    function _executed(Sweep memory s) private returns (Executed memory e) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        Vm.Log memory last = logs[logs.length - 1];
        assertEq(last.emitter, address(v5));
        assertEq(last.topics[0], IV5.SweepExecutedV5.selector);
        assertEq(uint256(last.topics[1]), s.authorization.nonce);
        assertEq(address(uint160(uint256(last.topics[2]))), s.sender);
        assertEq(last.topics[3], s.order.partnerId);
        e = abi.decode(last.data, (Executed));
        assertEq(e.partnerRecipient, s.authorization.partnerRecipient);
        assertEq(e.protocolRecipient, s.authorization.protocolRecipient);
        assertEq(e.outputToken, s.order.outputToken);
        assertEq(e.tokenCount, s.legs.length);
    }

    function _assertNothingLeft(Sweep memory s) private view {
        assertEq(IERC20(s.order.outputToken).balanceOf(address(v5)), 0, "output left");
        for (uint256 i = 0; i < s.legs.length; ++i) {
            IERC20 token = IERC20(s.legs[i].token);
            assertEq(token.balanceOf(address(v5)), 0, "left in the contract");
            assertEq(token.balanceOf(address(router)), 0, "left in the router");
            assertEq(token.allowance(address(v5), address(router)), 0, "approval left");
        }
    }

    // ---------------------------------------------------------------- routes, fundings, decimals

    function test_v3_swaps_by_either_funding() public {
        uint256 snapshot = vm.snapshotState();
        uint256 prefunded = _sendAndVerify(_usdcSweep(PREFUNDED)).grossOutput;
        vm.revertToState(snapshot);
        assertEq(_sendAndVerify(_usdcSweep(APPROVED)).grossOutput, prefunded);
        assertGt(prefunded, 0.49e18);
    }

    function test_v2_swaps_by_either_funding() public {
        uint256 snapshot = vm.snapshotState();
        Sweep memory s = _sweep(_legs(_v2Leg(usdc, 1_000e6, PREFUNDED)), address(weth));
        uint256 prefunded = _sendAndVerify(s).grossOutput;
        vm.revertToState(snapshot);
        s = _sweep(_legs(_v2Leg(usdc, 1_000e6, APPROVED)), address(weth));
        assertEq(_sendAndVerify(s).grossOutput, prefunded);
        assertGt(prefunded, 0.49e18);
    }

    function test_tokens_of_all_decimals_go_into_one_output() public {
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](5);
            legs[0] = _v3Leg(gusd, 1_000e2, funding);
            legs[1] = _v2Leg(usdc, 1_000e6, funding);
            legs[2] = _v3Leg(usdt, 1_000e6, funding);
            legs[3] = _v2Leg(wbtc, 1_000e8, funding);
            legs[4] = _v3Leg(dai, 1_000e18, funding);
            Sweep memory s = _sweep(legs, address(weth));
            (s.order.authorizationNonce, s.authorization.nonce, s.permitNonce) = (funding, funding, funding);
            _sign(s);
            assertGt(_sendAndVerify(s).grossOutput, 2.45e18);
        }
    }

    function test_fundings_mix_in_one_sweep() public {
        ISweepBatch.Leg memory approved = _v2Leg(usdt, 500e6, APPROVED);
        assertGt(
            _sendAndVerify(_sweep(_legs(approved, _v3Leg(dai, 500e18, PREFUNDED)), address(weth))).grossOutput, 0.49e18
        );
    }

    function test_routes_through_the_wrapped_coin() public {
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            address[] memory path = new address[](3);
            (path[0], path[1], path[2]) = (address(wbtc), address(weth), address(usdt));
            Sweep memory s = _sweep(
                _legs(_v3PathLeg(usdc, usdt, 1_000e6, funding), _v2PathLeg(path, 1_000e8, funding)), address(usdt)
            );
            (s.order.authorizationNonce, s.authorization.nonce, s.permitNonce) = (funding, funding, funding);
            _sign(s);
            assertGt(_sendAndVerify(s).grossOutput, 1_950e6);
        }
    }

    // ---------------------------------------------------------------- the split

    function test_no_fee_leaves_everything_to_the_user() public {
        Sweep memory s = _usdcSweep(APPROVED);
        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (0, 0);
        _sign(s);
        Executed memory e = _sendAndVerify(s);
        assertEq(e.userAmount, e.grossOutput);
    }

    function test_no_share_leaves_the_fee_to_the_protocol() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.authorization.partnerShareBps = 0;
        _sign(s);
        Executed memory e = _sendAndVerify(s);
        assertEq(e.protocolFee, e.totalFee);
        assertGt(e.totalFee, 0);
    }

    function test_the_whole_share_leaves_the_fee_to_the_partner() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.authorization.partnerShareBps = 10_000;
        _sign(s);
        Executed memory e = _sendAndVerify(s);
        assertEq(e.partnerFee, e.totalFee);
        assertGt(e.totalFee, 0);
    }

    /// @dev A few units of a token in a pool at par make the output as small as wished: rounding goes against protocol and partner.
    function testFuzz_fees_round_down(uint256 amount, uint16 totalFeeBps, uint16 partnerShareBps) public {
        IERC20 par = IERC20(deployCode(_built("MintableToken"), abi.encode("PAR", "PAR", uint8(18))));
        _addV3Pool(address(par), address(weth), 1e24, 1e24);
        Sweep memory s = _sweep(_legs(_v3Leg(par, bound(amount, 4, 50_000), PREFUNDED)), address(weth));
        totalFeeBps = uint16(bound(totalFeeBps, 0, 300));
        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (totalFeeBps, totalFeeBps);
        s.authorization.partnerShareBps = uint16(bound(partnerShareBps, 0, 10_000));
        s.order.minUserOutput = 0;
        _sign(s);
        _sendAndVerify(s);
    }

    // ---------------------------------------------------------------- the user's minimum

    function test_the_user_gets_the_minimum_or_nothing_happens() public {
        Sweep memory s = _usdcSweep(APPROVED);
        uint256 snapshot = vm.snapshotState();
        uint256 userAmount = _sendAndVerify(s).userAmount;
        vm.revertToState(snapshot);

        s.order.minUserOutput = userAmount;
        _sign(s);
        snapshot = vm.snapshotState();
        _sendAndVerify(s);
        vm.revertToState(snapshot);

        s.order.minUserOutput = userAmount + 1;
        _sign(s);
        _expectRevert(
            s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, userAmount, userAmount + 1)
        );
        assertEq(usdc.balanceOf(user), 1_000e6);
        assertFalse(v5.isNonceUsed(7));
    }

    /// @dev The output token taxes: what counts is what arrives at the user.
    function test_the_minimum_is_measured_at_the_user() public {
        address[] memory path = new address[](3);
        (path[0], path[1], path[2]) = (address(usdc), address(weth), address(taxed));
        Sweep memory s = _sweep(_legs(_v2PathLeg(path, 1_000e6, PREFUNDED)), address(taxed));
        uint256 snapshot = vm.snapshotState();
        _send(s);
        uint256 arrived = taxed.balanceOf(user);
        vm.revertToState(snapshot);
        s.order.minUserOutput = arrived + 1;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, arrived, arrived + 1));
    }

    function test_output_that_goes_elsewhere_does_not_count() public {
        ISweepBatch.Leg memory leg = _v3LegTo(usdc, address(weth), 1_000e6, APPROVED, makeAddr("thief"));
        Sweep memory s = _sweep(_legs(leg), address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, 0, 1));
    }

    function test_another_token_supplied_as_output_does_not_count() public {
        ISweepBatch.Leg memory leg = _v3Leg(usdc, 1_000e6, APPROVED); // brings the wrapped coin
        Sweep memory s = _sweep(_legs(leg), address(dai));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, 0, 1));
    }

    // ---------------------------------------------------------------- what was here before, what is left over

    function test_idle_tokens_are_neither_paid_out_nor_spent() public {
        _fund(address(weth), address(v5), 5e18);
        _fund(address(usdc), address(v5), 700e6);
        Sweep memory s = _usdcSweep(APPROVED);
        _send(s);
        assertEq(weth.balanceOf(address(v5)), 5e18);
        assertEq(usdc.balanceOf(address(v5)), 700e6);
        assertLt(weth.balanceOf(user), 0.5e18);
    }

    function test_a_leg_cannot_spend_idle_tokens_of_its_own_kind() public {
        _fund(address(usdc), address(v5), 700e6);
        ISweepBatch.Leg memory leg = _v3Leg(usdc, 1_000e6, APPROVED);
        leg.amount = 999e6; // the call still wants 1,000
        Sweep memory s = _sweep(_legs(leg), address(weth));
        bytes memory reason = abi.encodeWithSignature("Error(string)", "STF");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.LegFailed.selector, 0, address(router), reason));
    }

    function test_what_a_router_does_not_spend_goes_back_to_the_user() public {
        ISweepBatch.Leg memory leg = _v3Leg(usdt, 1_000e6, APPROVED);
        leg.data = abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams(address(usdt), address(weth), POOL_FEE, address(v5), 400e6, 1, 0))
        );
        _fund(address(usdt), address(v5), 700e6); // idle, and not the user's
        _send(_sweep(_legs(leg), address(weth)));
        assertEq(usdt.balanceOf(user), 600e6);
        assertEq(usdt.balanceOf(address(v5)), 700e6);
        assertEq(usdt.allowance(address(v5), address(router)), 0);
    }

    /// @dev An earlier leg's token can come back through a later leg; it is the user's.
    function test_an_input_that_a_later_leg_brings_back_goes_to_the_user() public {
        ISweepBatch.Leg memory back = _v3PathLeg(dai, usdc, 1_000e18, APPROVED);
        Sweep memory s = _sweep(_legs(_v3Leg(usdc, 1_000e6, APPROVED), back), address(weth));
        _send(s);
        assertGt(usdc.balanceOf(user), 990e6);
        _assertNothingLeft(s);
    }

    // ---------------------------------------------------------------- tokens with a will of their own

    function test_a_taxed_token_runs_when_the_route_spends_what_arrives() public {
        ISweepBatch.Leg memory leg = _v2Leg(taxed, 1_000e18, APPROVED);
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(taxed), address(weth));
        leg.data = abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (990e18, 1, path, address(v5)));
        Sweep memory s = _sweep(_legs(leg), address(weth));
        assertGt(_sendAndVerify(s).grossOutput, 0.48e18);
    }

    function test_a_taxed_token_fails_when_the_route_expects_what_was_sent() public {
        _fund(address(taxed), address(v5), 500e18); // idle tokens do not make up for the tax
        Sweep memory s = _sweep(_legs(_v2Leg(taxed, 1_000e18, APPROVED)), address(weth));
        bytes memory reason = abi.encodeWithSignature("Error(string)", "STF");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.LegFailed.selector, 0, address(router), reason));
    }

    function test_a_fee_recipient_that_the_output_token_blocks_is_named() public {
        BlockingToken blocking = new BlockingToken();
        _addV3Pool(address(usdc), address(blocking), 1e12, 1e24);
        blocking.blockAccount(partner);
        Sweep memory s =
            _sweep(_legs(_v3LegTo(usdc, address(blocking), 1e6, PREFUNDED, address(v5))), address(blocking));
        _expectFeeTransferFailed(s, address(blocking), partner);
        blocking.blockAccount(protocol);
        _expectFeeTransferFailed(s, address(blocking), protocol);
    }

    function _expectFeeTransferFailed(Sweep memory s, address token, address recipient) private {
        uint256 snapshot = vm.snapshotState();
        BlockingToken(token).blockAccount(address(0xdead));
        _send(s);
        uint256 amount = IERC20(token).balanceOf(recipient);
        vm.revertToState(snapshot);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.FeeTransferFailed.selector, token, recipient, amount));
    }
}
