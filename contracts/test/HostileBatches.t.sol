// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {
    BlocklistToken,
    CallbackToken,
    ReturnsFalseToken,
    LyingToken,
    RouterDrainingToken,
    RebasingToken,
    RevertsOnZeroToken
} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title HostileBatches
/// @notice The attacks that the design prevents, carried out. Fee recipients that reject the native coin or burn gas
/// are covered in NativeOutput.t.sol, re-entry in Reentrancy.t.sol.
contract HostileBatches is SweepTest {
    RouterDrainingToken private draining;

    function setUp() public override {
        super.setUp();
        draining = new RouterDrainingToken();
        _addPools(draining, 2_000_000e18);
    }

    // ---------------------------------------------------------------- a frontend that avoids the fee

    function test_a_frontend_cannot_route_the_output_past_the_split() public {
        Sweep memory s = _sweep(_legs(_v3Leg(usdc, 1e6, APPROVED), _v3Leg(dai, 1_000e18, APPROVED)), address(weth));
        bytes32 signed = s.authorization.legsHash;
        s.legs[1] = _v3LegTo(dai, address(weth), 1_000e18, APPROVED, user); // the user's signature is still valid
        bytes32 sent = keccak256(abi.encode(s.legs));
        _expectRevert(s, abi.encodeWithSelector(IV5.LegsHashMismatch.selector, signed, sent));

        s.authorization.legsHash = sent; // now the service's is not
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
    }

    // ---------------------------------------------------------------- a token that drains the router

    function _drainingSweep(uint8 funding) private returns (Sweep memory s) {
        s = _sweep(_legs(_v3Leg(dai, 1_000e18, funding), _v3Leg(draining, 1e18, funding)), address(weth));
        draining.arm(address(router), address(dai));
    }

    /// @dev The reason why the service prefunds only if every token of a sweep is vetted: this one is not, and the
    /// minimum is low.
    function test_an_unvetted_token_can_drain_prefunded_tokens_from_the_router() public {
        _send(_drainingSweep(PREFUNDED));
        assertGt(draining.stolen(), 999e18);
    }

    function test_the_users_minimum_limits_the_loss_of_prefunded_tokens() public {
        Sweep memory s = _drainingSweep(PREFUNDED);
        s.order.minUserOutput = 0.49e18;
        _sign(s);
        vm.expectPartialRevert(ISweepBatch.InsufficientUserOutput.selector);
        _send(s);
        assertEq(dai.balanceOf(user), 1_000e18);
    }

    function test_approved_tokens_cannot_be_drained_from_the_router() public {
        _send(_drainingSweep(APPROVED));
        assertEq(draining.stolen(), 0);
        assertGt(weth.balanceOf(user), 0.49e18);
    }

    // ---------------------------------------------------------------- a token that relies on the idle balance

    function test_a_token_that_transfers_nothing_is_not_approved() public {
        LyingToken lying = new LyingToken();
        _addPools(lying, 2_000_000e18);
        _fund(address(lying), address(v5), 700e18); // idle balance
        Sweep memory s = _sweep(_legs(_v3Leg(lying, 500e18, APPROVED)), address(weth));
        lying.lieOnce();
        bytes memory reason = abi.encodeWithSignature("Error(string)", "STF");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.LegFailed.selector, 0, address(router), reason));
        assertEq(lying.balanceOf(address(v5)), 700e18);
    }

    // ---------------------------------------------------------------- a timelock that is due

    function test_a_due_timelock_cannot_be_executed_inside_a_sweep() public {
        CallbackToken callbackToken = new CallbackToken();
        _addPools(callbackToken, 1e24);
        uint64 configurator = 2;
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = v5.setFeeSigner.selector;
        manager.setTargetFunctionRole(address(v5), selectors, configurator);
        manager.grantRole(configurator, address(callbackToken), 2 days);
        bytes memory call = abi.encodeCall(v5.setFeeSigner, (user, 0));
        vm.prank(address(callbackToken));
        manager.schedule(address(v5), call, 0);
        vm.warp(block.timestamp + 2 days);

        Sweep memory s = _sweep(_legs(_v3Leg(callbackToken, 1e18, APPROVED)), address(weth));
        callbackToken.arm(address(manager), abi.encodeCall(IAccessManager.execute, (address(v5), call)));
        _send(s);
        assertTrue(callbackToken.called());
        assertEq(
            callbackToken.response(),
            abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)
        );
        assertEq(v5.feeSigner(), signer);

        vm.prank(address(callbackToken));
        manager.execute(address(v5), call); // succeeds outside of a sweep
        assertEq(v5.feeSigner(), user);
    }

    // ---------------------------------------------------------------- unusual tokens

    function _expectSweeps(IERC20 token, uint256 amount) private {
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            uint256 snapshot = vm.snapshotState();
            _send(_sweep(_legs(_v3Leg(token, amount, funding)), address(weth)));
            assertGt(weth.balanceOf(user), 0);
            assertEq(token.balanceOf(user), 0);
            assertLe(token.balanceOf(address(v5)), 2); // rounding of a rebasing token
            assertEq(token.allowance(address(v5), address(router)), 0);
            vm.revertToState(snapshot);
        }
    }

    function test_tokens_with_0_and_30_decimals_are_swept() public {
        IERC20 zero = IERC20(deployCode(_artifact("MintableToken"), abi.encode("ZERO", "ZERO", uint8(0))));
        IERC20 thirty = IERC20(deployCode(_artifact("MintableToken"), abi.encode("THIRTY", "THIRTY", uint8(30))));
        _addV3Pool(address(zero), address(weth), POOL_TOKENS, POOL_WETH);
        _addV3Pool(address(thirty), address(weth), POOL_TOKENS * 1e30, POOL_WETH);
        _expectSweeps(zero, 1_000);
        _expectSweeps(thirty, 1_000e30);
    }

    function test_a_token_that_returns_false_is_swept_and_its_failed_transfer_reverts() public {
        ReturnsFalseToken token = new ReturnsFalseToken();
        _addPools(token, 2_000_000e18);
        _expectSweeps(token, 1_000e18);

        Sweep memory s = _sweep(_legs(_v3Leg(token, 1_000e18, APPROVED)), address(weth));
        vm.prank(user);
        assertTrue(token.transfer(partner, 1)); // leaves less than the signed amount
        _expectRevert(s, abi.encodeWithSignature("Error(string)", "TRANSFER_FROM_FAILED"));
    }

    function test_a_token_that_reverts_on_zero_transfers_is_swept_without_a_fee_and_without_leftovers() public {
        RevertsOnZeroToken token = new RevertsOnZeroToken();
        _addPools(token, 2_000_000e18);
        _expectSweeps(token, 1_000e18);

        Sweep memory s = _sweep(_legs(_v3LegTo(usdc, address(token), 1_000e6, APPROVED, address(v5))), address(token));
        _addV3Pool(address(usdc), address(token), 1e12, 1e24);
        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (0, 0);
        _sign(s);
        _send(s);
        assertGt(token.balanceOf(user), 0);
    }

    function test_a_token_that_blocks_this_contract_can_only_be_prefunded() public {
        BlocklistToken token = new BlocklistToken();
        _addPools(token, 2_000_000e18);
        token.blockAccount(address(v5));
        _expectRevert(
            _sweep(_legs(_v3Leg(token, 1_000e18, APPROVED)), address(weth)),
            abi.encodeWithSignature("Error(string)", "TRANSFER_FROM_FAILED")
        );
        _send(_sweep(_legs(_v3Leg(token, 1_000e18, PREFUNDED)), address(weth)));
        assertGt(weth.balanceOf(user), 0);
    }

    function test_a_rebasing_token_leaves_at_most_two_units() public {
        RebasingToken token = new RebasingToken();
        _addV2Pool(IERC20(address(token)), address(weth), 2_000_000e18, 1_000e18);
        token.rebase();
        _fund(address(token), address(v5), 700e18); // idle balance
        uint256 idle = token.balanceOf(address(v5));
        ISweepBatch.Leg memory leg = _v2Leg(IERC20(address(token)), 1_000e18, APPROVED);
        // One unit less than the leg's amount may arrive, and the route must allow for it.
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(token), address(weth));
        leg.data = abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (1_000e18 - 2, 1, path, address(v5)));
        _send(_sweep(_legs(leg), address(weth)));
        assertGt(weth.balanceOf(user), 0.4e18);
        assertApproxEqAbs(token.balanceOf(address(v5)), idle, 2);
        assertEq(token.allowance(address(v5), address(router)), 0);
    }

    function test_growth_of_a_rebasing_token_during_the_sweep_goes_to_the_user() public {
        RebasingToken token = new RebasingToken();
        _addV2Pool(IERC20(address(token)), address(weth), 2_000_000e18, 1_000e18);
        CallbackToken callbackToken = new CallbackToken();
        _addPools(callbackToken, 1e24);
        ISweepBatch.Leg memory leg = _v2Leg(IERC20(address(token)), 1_000e18, APPROVED);
        Sweep memory s = _sweep(_legs(leg, _v3Leg(callbackToken, 1e18, APPROVED)), address(weth));
        callbackToken.arm(address(token), abi.encodeCall(RebasingToken.rebase, ())); // before its swap
        _send(s);
        assertGt(token.balanceOf(user), 100e18);
        assertLe(token.balanceOf(address(v5)), 2);
    }
}
