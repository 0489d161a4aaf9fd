// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {TwoAddressToken} from "./support/AttackingTokens.sol";
import {RouterDrainingToken} from "./support/Hostile.sol";
import {HostileTest} from "./support/HostileTest.sol";

/// @title FiveFindingsContinued
/// @notice The findings of FiveFindings.t.sol that are not about prices inside a sweep: the thin pool that another trader
/// trades in beforehand, the raid on the router, and tokens with two addresses.
contract FiveFindingsContinued is HostileTest {
    uint256 private constant SLIPPAGE_BPS = 100;

    // ---------------------------------------------------------------- 3: the griefed thin pool

    // A trade of 15 dollars in a thin pool, which cost 0.09 dollars in fees, stopped the first form's sweep of ten legs.

    /// @dev Nine legs through deep pools and one through a pool of 500 dollars a side, all with floors.
    function _tenLegs() private returns (Sweep memory s, IERC20 thin) {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](10);
        for (uint256 i = 0; i < 9; ++i) {
            legs[i] = _skippable(_v3Leg(_newToken(), 1_000e18));
            legs[i].floor = 0.49e18; // of 0.494 net
        }
        thin = IERC20(deployCode(_artifact("MintableToken"), abi.encode("THIN", "THIN", uint8(18))));
        _addV2Pool(thin, address(weth), 500e18, 0.25e18);
        legs[9] = _skippable(_v2Leg(thin, 20e18));
        uint256 amountAfterFee = uint256(20e18) * 997;
        uint256 out = amountAfterFee * 0.25e18 / (500e18 * 1_000 + amountAfterFee);
        legs[9].floor = out * (10_000 - 75) / 10_000 * (10_000 - SLIPPAGE_BPS) / 10_000;
        s = _sweep(_route(legs), address(weth));
    }

    function _newToken() private returns (IERC20 token) {
        token = IERC20(deployCode(_artifact("MintableToken"), abi.encode("DEEP", "DEEP", uint8(18))));
        _addV3Pool(address(token), address(weth), 2_000_000e18, 1_000e18);
    }

    /// @dev 15 dollars into the thin pool, which moves its price by about 3 %.
    function _grief(IERC20 thin) private {
        _fund(address(thin), address(this), 15e18);
        thin.approve(address(router), 15e18);
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(thin), address(weth));
        router.swapExactTokensForTokens(15e18, 0, path, address(this));
    }

    function test_a_griefed_thin_pool_is_left_out_where_the_user_allowed_it() public {
        (Sweep memory s, IERC20 thin) = _tenLegs();
        s.route.maxSkipped = 1;
        _sign(s);
        uint256 fair = _fairOutput(s);
        _grief(thin);
        _sendSkipping(s, 9, ISweepBatch.SkipReason.BelowLeast);
        assertEq(thin.balanceOf(user), 20e18);
        assertApproxEqAbs(weth.balanceOf(user), fair - s.route.legs[9].floor, 2e14); // the other nine, to their last unit
        for (uint256 i = 0; i < 9; ++i) {
            assertEq(IERC20(s.route.legs[i].token).balanceOf(user), 0);
        }
    }

    function test_a_griefed_thin_pool_reverts_the_sweep_where_the_user_did_not_allow_it() public {
        (Sweep memory s, IERC20 thin) = _tenLegs();
        _grief(thin);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.TooManySkipped.selector, 1, 0));
        assertEq(thin.balanceOf(user), 20e18);
    }

    // ---------------------------------------------------------------- 4: the raid

    // The first form moved tokens to the router before the swaps if they were funded so. A swept token that called the
    // router's sweepToken in its own transfer took 999 of 1,000 DAI. Nothing lies on a router any more.

    function _draining() private returns (RouterDrainingToken draining) {
        draining = new RouterDrainingToken();
        _addPools(draining, 2_000_000e18);
        draining.arm(address(router), address(dai));
    }

    function test_a_token_that_drains_the_router_finds_nothing_of_a_router_leg() public {
        RouterDrainingToken draining = _draining();
        ISweepBatch.Route memory route;
        route.legs = _legs(_leg(dai, 1_000e18, 0), _leg(draining, 1e18, 0));
        route.routerCalls = new ISweepBatch.RouterCall[](2);
        route.routerCalls[0] = _v3Call(0, dai, address(weth), 1_000e18, address(v5));
        route.routerCalls[1] = _v3Call(1, draining, address(weth), 1e18, address(v5));
        _send(_sweep(route, address(weth)));
        assertEq(draining.stolen(), 0);
        assertGt(weth.balanceOf(user), 0.49e18);
    }

    function test_a_token_that_drains_the_router_finds_nothing_of_a_pool_leg() public {
        RouterDrainingToken draining = _draining();
        for (uint256 i = 0; i < 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            ISweepBatch.Leg memory leg = i == 0 ? _v3Leg(dai, 1_000e18) : _v2Leg(dai, 1_000e18);
            _send(_sweep(_route(_legs(leg, _v3Leg(draining, 1e18))), address(weth)));
            assertEq(draining.stolen(), 0);
            assertEq(dai.balanceOf(address(router)), 0);
            assertGt(weth.balanceOf(user), 0.49e18);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    // ---------------------------------------------------------------- 5: tokens with two addresses

    // Some tokens move the same balances under two addresses. The first form paid the output twice if a swept token was
    // the output token under its other address: once as unspent tokens, once as output, the second time from its idle
    // balance. The user's tokens were never at risk.
    //
    // What holds: both addresses can be swept, each for the amount that was signed, and idle balances are not spent.
    // What is out of scope: the checks for duplicate tokens and for the output token compare addresses, so such a route
    // is not refused for its tokens; a user who sweeps a token into itself pays the pool's fee for nothing.

    function _twoAddresses() private returns (TwoAddressToken token, IERC20 other) {
        token = new TwoAddressToken();
        other = IERC20(address(token.ALIAS()));
        _addPools(token, 2_000_000e18);
        _addPools(other, 2_000_000e18);
        _fund(address(token), address(v5), 5_000e18); // idle balance
    }

    function test_both_addresses_of_a_token_are_swept_for_the_signed_amounts() public {
        (TwoAddressToken token, IERC20 other) = _twoAddresses();
        ISweepBatch.Leg memory leg = _leg(token, 400e18, 0);
        ISweepBatch.Route memory route;
        route.legs = _legs(leg, _v3Leg(other, 600e18));
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3Call(0, token, address(weth), 400e18, address(v5));
        _fund(address(token), user, 50e18); // not signed
        _send(_sweep(route, address(weth)));
        assertEq(token.balanceOf(user), 50e18);
        assertEq(token.balanceOf(address(v5)), 5_000e18);
        assertApproxEqRel(weth.balanceOf(user), 0.494e18, 0.002e18);
    }

    /// @dev The second one finds what the first one left, so the two together spend what was received.
    function test_two_router_legs_of_both_addresses_spend_no_idle_balance() public {
        (TwoAddressToken token, IERC20 other) = _twoAddresses();
        ISweepBatch.Route memory route;
        route.legs = _legs(_leg(token, 400e18, 0), _leg(other, 600e18, 0));
        route.routerCalls = new ISweepBatch.RouterCall[](2);
        route.routerCalls[0] = _v3Call(0, token, address(weth), 500e18, address(v5)); // more than its leg
        route.routerCalls[1] = _v3Call(1, other, address(weth), 600e18, address(v5));
        _expectRevert(_sweep(route, address(weth)), _legFailed(1, address(router), _text("STF")));
        route.routerCalls[1] = _v3Call(1, other, address(weth), 450e18, address(v5));
        _send(_sweep(route, address(weth)));
        assertEq(token.balanceOf(address(v5)), 5_000e18);
        assertEq(token.balanceOf(user), 50e18);
        assertEq(token.allowance(address(v5), address(router)), 0);
    }

    /// @dev The pool pays twice what it takes, so that even the leg seems to bring something. What it brought is returned
    /// as unspent, and then nothing is left that could be paid out.
    function test_a_token_that_is_swept_into_its_other_address_spends_no_idle_balance() public {
        (TwoAddressToken token, IERC20 other) = _twoAddresses();
        _addV3Pool(address(token), address(other), 100_000e18, 200_000e18);
        ISweepBatch.RouterCall memory call = _v3Call(0, token, address(other), 1_000e18, address(v5));
        Sweep memory s = _sweep(_routerRoute(_leg(token, 1_000e18, 0), call), address(other));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, 0, 1));
        assertEq(token.balanceOf(user), 1_000e18);

        s.route.legs[0].floor = 0;
        _sign(s);
        _send(s);
        assertApproxEqRel(token.balanceOf(user), 2_000e18, 0.02e18);
        assertEq(token.balanceOf(address(v5)), 5_000e18);
    }

    function test_a_pool_leg_into_the_other_address_spends_no_idle_balance() public {
        (TwoAddressToken token, IERC20 other) = _twoAddresses();
        _addV3Pool(address(token), address(other), 100_000e18, 200_000e18);
        _send(_sweep(_route(_legs(_v3Leg(token, 1_000e18))), address(other)));
        assertApproxEqRel(token.balanceOf(user), 1_970e18, 0.02e18);
        assertEq(token.balanceOf(address(v5)), 5_000e18);
    }
}
