// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {
    BlockingToken,
    CallingToken,
    FalseToken,
    LyingToken,
    RaidingToken,
    RebasingToken,
    ZeroRefusingToken
} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title HostileBatches
/// @notice The attacks that the design answers, mounted for real. Fee recipients that refuse or burn are in NativeOutput.t.sol,
/// re-entry is in Reentrancy.t.sol.
contract HostileBatches is SweepTest {
    RaidingToken private raiding;

    function setUp() public override {
        super.setUp();
        raiding = new RaidingToken();
        _addPools(raiding, 2_000_000e18);
    }

    // ---------------------------------------------------------------- a page that keeps the fee

    function test_a_page_cannot_route_the_output_past_the_split() public {
        Sweep memory s = _sweep(_legs(_v3Leg(usdc, 1e6, APPROVED), _v3Leg(dai, 1_000e18, APPROVED)), address(weth));
        bytes32 signed = s.authorization.legsHash;
        s.legs[1] = _v3LegTo(dai, address(weth), 1_000e18, APPROVED, user); // the user's signature still fits
        bytes32 sent = keccak256(abi.encode(s.legs));
        _expectRevert(s, abi.encodeWithSelector(IV5.LegsHashMismatch.selector, signed, sent));

        s.authorization.legsHash = sent; // then the service's does not
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
    }

    // ---------------------------------------------------------------- a token that raids the router

    function _raid(uint8 funding) private returns (Sweep memory s) {
        s = _sweep(_legs(_v3Leg(dai, 1_000e18, funding), _v3Leg(raiding, 1e18, funding)), address(weth));
        raiding.arm(address(router), address(dai));
    }

    /// @dev Why the service prefunds only if every token of a sweep is vetted: here one was not, and the minima were slack.
    function test_a_raid_of_prefunded_tokens_succeeds_in_an_unvetted_batch() public {
        _send(_raid(PREFUNDED));
        assertGt(raiding.loot(), 999e18);
    }

    function test_the_users_minimum_bounds_a_raid_of_prefunded_tokens() public {
        Sweep memory s = _raid(PREFUNDED);
        s.order.minUserOutput = 0.49e18;
        _sign(s);
        vm.expectPartialRevert(ISweepBatch.InsufficientUserOutput.selector);
        _send(s);
        assertEq(dai.balanceOf(user), 1_000e18);
    }

    function test_a_raid_of_approved_tokens_finds_nothing() public {
        _send(_raid(APPROVED));
        assertEq(raiding.loot(), 0);
        assertGt(weth.balanceOf(user), 0.49e18);
    }

    // ---------------------------------------------------------------- a token that borrows what lies idle

    function test_a_token_that_brings_nothing_is_approved_nothing() public {
        LyingToken lying = new LyingToken();
        _addPools(lying, 2_000_000e18);
        _fund(address(lying), address(v5), 700e18); // idle
        Sweep memory s = _sweep(_legs(_v3Leg(lying, 500e18, APPROVED)), address(weth));
        lying.lie();
        bytes memory reason = abi.encodeWithSignature("Error(string)", "STF");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.LegFailed.selector, 0, address(router), reason));
        assertEq(lying.balanceOf(address(v5)), 700e18);
    }

    // ---------------------------------------------------------------- a timelock whose time has come

    function test_a_timelock_that_is_due_is_not_executed_inside_a_sweep() public {
        CallingToken calling = new CallingToken();
        _addPools(calling, 1e24);
        uint64 configurator = 2;
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = v5.setFeeSigner.selector;
        manager.setTargetFunctionRole(address(v5), selectors, configurator);
        manager.grantRole(configurator, address(calling), 2 days);
        bytes memory call = abi.encodeCall(v5.setFeeSigner, (user, 0));
        vm.prank(address(calling));
        manager.schedule(address(v5), call, 0);
        vm.warp(block.timestamp + 2 days);

        Sweep memory s = _sweep(_legs(_v3Leg(calling, 1e18, APPROVED)), address(weth));
        calling.arm(address(manager), abi.encodeCall(IAccessManager.execute, (address(v5), call)));
        _send(s);
        assertTrue(calling.called());
        assertEq(
            calling.answer(), abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)
        );
        assertEq(v5.feeSigner(), signer);

        vm.prank(address(calling));
        manager.execute(address(v5), call); // outside of a sweep it is
        assertEq(v5.feeSigner(), user);
    }

    // ---------------------------------------------------------------- tokens of every kind

    function _expectSweeps(IERC20 token, uint256 amount) private {
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            uint256 snapshot = vm.snapshotState();
            _send(_sweep(_legs(_v3Leg(token, amount, funding)), address(weth)));
            assertGt(weth.balanceOf(user), 0);
            assertEq(token.balanceOf(user), 0);
            assertLe(token.balanceOf(address(v5)), 2); // a rebasing token's rounding
            assertEq(token.allowance(address(v5), address(router)), 0);
            vm.revertToState(snapshot);
        }
    }

    function test_tokens_of_zero_and_of_thirty_decimals_are_swept() public {
        IERC20 zero = IERC20(deployCode(_built("MintableToken"), abi.encode("ZERO", "ZERO", uint8(0))));
        IERC20 thirty = IERC20(deployCode(_built("MintableToken"), abi.encode("THIRTY", "THIRTY", uint8(30))));
        _addV3Pool(address(zero), address(weth), POOL_TOKENS, POOL_WETH);
        _addV3Pool(address(thirty), address(weth), POOL_TOKENS * 1e30, POOL_WETH);
        _expectSweeps(zero, 1_000);
        _expectSweeps(thirty, 1_000e30);
    }

    function test_a_token_that_returns_false_is_swept_and_its_failure_is_one() public {
        FalseToken token = new FalseToken();
        _addPools(token, 2_000_000e18);
        _expectSweeps(token, 1_000e18);

        Sweep memory s = _sweep(_legs(_v3Leg(token, 1_000e18, APPROVED)), address(weth));
        vm.prank(user);
        token.transfer(partner, 1); // now there is less than was signed for
        _expectRevert(s, abi.encodeWithSignature("Error(string)", "TRANSFER_FROM_FAILED"));
    }

    function test_a_token_that_refuses_zero_is_swept_without_a_fee_and_with_nothing_unspent() public {
        ZeroRefusingToken token = new ZeroRefusingToken();
        _addPools(token, 2_000_000e18);
        _expectSweeps(token, 1_000e18);

        Sweep memory s = _sweep(_legs(_v3LegTo(usdc, address(token), 1_000e6, APPROVED, address(v5))), address(token));
        _addV3Pool(address(usdc), address(token), 1e12, 1e24);
        (s.order.totalFeeBps, s.authorization.totalFeeBps) = (0, 0);
        _sign(s);
        _send(s);
        assertGt(token.balanceOf(user), 0);
    }

    function test_a_token_that_blocks_the_contract_can_only_be_prefunded() public {
        BlockingToken token = new BlockingToken();
        _addPools(token, 2_000_000e18);
        token.blockAccount(address(v5));
        _expectRevert(
            _sweep(_legs(_v3Leg(token, 1_000e18, APPROVED)), address(weth)),
            abi.encodeWithSignature("Error(string)", "TRANSFER_FROM_FAILED")
        );
        _send(_sweep(_legs(_v3Leg(token, 1_000e18, PREFUNDED)), address(weth)));
        assertGt(weth.balanceOf(user), 0);
    }

    function test_a_rebasing_token_leaves_two_units_at_most() public {
        RebasingToken token = new RebasingToken();
        _addV2Pool(IERC20(address(token)), address(weth), 2_000_000e18, 1_000e18);
        token.rebase();
        _fund(address(token), address(v5), 700e18); // idle
        uint256 idle = token.balanceOf(address(v5));
        ISweepBatch.Leg memory leg = _v2Leg(IERC20(address(token)), 1_000e18, APPROVED);
        // what arrives can be a unit less than what was sent, and the route has to expect that
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(token), address(weth));
        leg.data = abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (1_000e18 - 2, 1, path, address(v5)));
        _send(_sweep(_legs(leg), address(weth)));
        assertGt(weth.balanceOf(user), 0.4e18);
        assertApproxEqAbs(token.balanceOf(address(v5)), idle, 2);
        assertEq(token.allowance(address(v5), address(router)), 0);
    }

    function test_a_token_that_grows_while_it_is_swept_goes_back_to_the_user() public {
        RebasingToken token = new RebasingToken();
        _addV2Pool(IERC20(address(token)), address(weth), 2_000_000e18, 1_000e18);
        CallingToken calling = new CallingToken();
        _addPools(calling, 1e24);
        ISweepBatch.Leg memory leg = _v2Leg(IERC20(address(token)), 1_000e18, APPROVED);
        Sweep memory s = _sweep(_legs(leg, _v3Leg(calling, 1e18, APPROVED)), address(weth));
        calling.arm(address(token), abi.encodeCall(RebasingToken.rebase, ())); // between its arrival and its swap
        _send(s);
        assertGt(token.balanceOf(user), 100e18);
        assertLe(token.balanceOf(address(v5)), 2);
    }
}
