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
    LyingToken,
    RejectingRecipient,
    ReturnsFalseToken,
    RevertsOnZeroToken
} from "./support/Hostile.sol";
import {HostileTest} from "./support/HostileTest.sol";

/// @title HostileBatches
/// @notice Unusual tokens in each kind of leg, a frontend that avoids the fee, and a timelock that is due. Fee
/// recipients that reject the native coin or burn gas are covered in NativeOutput.t.sol, re-entry in Reentrancy.t.sol,
/// tokens that attack in HostileTokens.t.sol and FiveFindings.t.sol.
contract HostileBatches is HostileTest {
    // ---------------------------------------------------------------- a frontend that avoids the fee

    function test_a_frontend_cannot_route_the_output_past_the_split() public {
        Sweep memory s = _usdcRouterSweep();
        bytes32 signed = s.authorization.legsHash;
        s.route.routerCalls[0] = _v3Call(0, usdc, address(weth), 1_000e6, user); // the user's signature is still valid
        bytes32 sent = keccak256(abi.encode(s.route));
        _expectRevert(s, abi.encodeWithSelector(IV5.LegsHashMismatch.selector, signed, sent));

        s.authorization.legsHash = sent; // now the service's is not
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, signer, digest));
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

        Sweep memory s = _sweep(_route(_legs(_v3Leg(callbackToken, 1e18))), address(weth));
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

    /// @dev Through pools of both kinds, if it has both.
    function _expectSweeps(IERC20 token, uint256 amount) private {
        _expectSwept(token, _route(_legs(_v3Leg(token, amount))));
        if (_pool(V2, token, weth).code.length != 0) _expectSwept(token, _route(_legs(_v2Leg(token, amount))));
        ISweepBatch.RouterCall memory call = _v3Call(0, token, address(weth), amount, address(v5));
        _expectSwept(token, _routerRoute(_leg(token, amount, 0), call));
    }

    function _expectSwept(IERC20 token, ISweepBatch.Route memory route) private {
        uint256 snapshot = vm.snapshotState();
        vm.startPrank(user);
        assertTrue(token.transfer(partner, token.balanceOf(user) - route.legs[0].amount)); // given for other routes
        vm.stopPrank();
        _send(_sweep(route, address(weth)));
        assertGt(weth.balanceOf(user), 0);
        assertEq(token.balanceOf(user), 0);
        assertEq(token.balanceOf(address(v5)), 0);
        assertEq(token.allowance(address(v5), address(router)), 0);
        assertTrue(vm.revertToState(snapshot));
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

        Sweep memory s = _sweep(_route(_legs(_v3Leg(token, 4_000e18))), address(weth));
        vm.prank(user);
        assertTrue(token.transfer(partner, 3_000e18 + 1)); // leaves less than the signed amount
        _expectRevert(s, _pullFailed(_text("TRANSFER_FROM_FAILED")));
    }

    function test_a_token_that_reverts_on_zero_transfers_is_swept_without_a_fee_and_without_leftovers() public {
        RevertsOnZeroToken token = new RevertsOnZeroToken();
        _addPools(token, 2_000_000e18);
        ISweepBatch.RouterCall memory call = _v3Call(0, token, address(weth), 1_000e18, address(v5));
        _send(_sweep(_routerRoute(_leg(token, 1_000e18, 0), call), address(weth)));

        _addV3Pool(address(usdc), address(token), 1e12, 1e24);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6))), address(token));
        (s.authorization.totalFeeBps, s.authorization.nonce, s.permitNonce) = (0, 8, 12);
        _sign(s);
        _send(s);
        assertGt(token.balanceOf(user), 0);
    }

    /// @dev Permit2 is given the token and asked to transfer nothing of it, and then does not call it.
    function test_a_token_that_reverts_on_every_call_can_be_left_out() public {
        ISweepBatch.Leg memory leg = ISweepBatch.Leg(address(new RejectingRecipient()), 1e18, 1, DROPPED);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), leg)), address(weth));
        s.route.maxSkipped = 1;
        _sign(s);
        _sendSkipping(s, 1, ISweepBatch.SkipReason.Dropped);
        assertGt(weth.balanceOf(user), 0.49e18);
    }

    function test_a_token_that_blocks_this_contract_can_only_be_swept_by_a_pool() public {
        BlocklistToken token = new BlocklistToken();
        _addPools(token, 2_000_000e18);
        token.blockAccount(address(v5));
        ISweepBatch.RouterCall memory call = _v3Call(0, token, address(weth), 1_000e18, address(v5));
        _expectRevert(
            _sweep(_routerRoute(_leg(token, 1_000e18, 0), call), address(weth)),
            _pullFailed(_text("TRANSFER_FROM_FAILED"))
        );
        _send(_sweep(_route(_legs(_v3Leg(token, 1_000e18))), address(weth)));
        assertGt(weth.balanceOf(user), 0);
    }

    function test_a_token_that_transfers_nothing_to_its_pool_reverts_the_sweep() public {
        LyingToken lying = new LyingToken();
        _addPools(lying, 2_000_000e18);
        lying.lieOnce();
        _expectRevert(
            _sweep(_route(_legs(_v3Leg(lying, 500e18))), address(weth)),
            _legFailed(0, _pool(V3, lying, weth), _text("IIA"))
        );
        lying.lieOnce();
        _expectFailedLeg(
            _sweep(_route(_legs(_v2Leg(lying, 500e18))), address(weth)),
            0,
            _pool(V2, lying, weth),
            "UniswapV2: INSUFFICIENT_INPUT_AMOUNT"
        );
    }

    function test_a_token_that_transfers_nothing_is_not_approved() public {
        LyingToken lying = new LyingToken();
        _addPools(lying, 2_000_000e18);
        _fund(address(lying), address(v5), 700e18); // idle balance
        lying.lieOnce();
        ISweepBatch.RouterCall memory call = _v3Call(0, lying, address(weth), 500e18, address(v5));
        Sweep memory s = _sweep(_routerRoute(_leg(lying, 500e18, 0), call), address(weth));
        _expectRevert(s, _legFailed(0, address(router), _text("STF")));
        assertEq(lying.balanceOf(address(v5)), 700e18);
    }
}
