// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {ErrorToken} from "./support/AttackingTokens.sol";
import {HostileTest} from "./support/HostileTest.sol";

/// @title SkippingAttacks
/// @notice A leg is left out only for its price, by this contract's own verdict, or because the offer says so. What a
/// token reverts with never leaves out another leg: on a sketch of this contract it could. Pools that fake verdicts are
/// in HostilePools.t.sol, out of gas in OutOfGas.t.sol.
contract SkippingAttacks is HostileTest {
    ErrorToken private token;

    function setUp() public override {
        super.setUp();
        token = new ErrorToken();
        _addPools(token, 2_000_000e18);
    }

    function _belowLeast(uint256 leg) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, leg, 0, 1);
    }

    /// @dev Every leg may be left out, and all but one.
    function _allSkippable(ISweepBatch.Leg[] memory legs) private view returns (Sweep memory s) {
        for (uint256 i = 0; i < legs.length; ++i) {
            legs[i].hop |= SKIPPABLE;
        }
        s = _sweep(_route(legs), address(weth));
        s.route.maxSkipped = legs.length - 1;
        _sign(s);
    }

    // ---------------------------------------------------------------- tokens that fake a verdict

    /// @dev Each of this contract's errors about each leg. Permit2 does not pass on a token's reason, and this contract
    /// wraps whatever fails there.
    function test_a_token_that_reverts_with_our_own_errors_has_no_leg_left_out() public {
        Sweep memory s = _allSkippable(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(token, 1_000e18), _v2Leg(usdt, 1_000e6)));
        for (uint256 leg = 0; leg < 3; ++leg) {
            bytes[5] memory reasons = [
                _belowLeast(leg),
                abi.encodeWithSelector(ISweepBatch.NotFilled.selector, leg, 0, 1),
                _legFailed(leg, address(token), _belowLeast(leg)),
                abi.encodeWithSelector(ISweepBatch.TooManySkipped.selector, 0, 0),
                _pullFailed(new bytes(0))
            ];
            for (uint256 i = 0; i < reasons.length; ++i) {
                token.failTransfers(reasons[i]);
                _expectRevert(s, _pullFailed(_text("TRANSFER_FROM_FAILED")));
            }
        }
        assertEq(usdc.balanceOf(user), 1_000e6);
        assertEq(usdt.balanceOf(user), 1_000e6);
    }

    function test_a_token_that_reverts_with_our_own_errors_has_no_leg_of_a_caller_left_out() public {
        Sweep memory s = _allSkippable(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(token, 1_000e18)));
        vm.startPrank(user);
        usdc.approve(address(v5), 1_000e6);
        token.approve(address(v5), 1_000e18);
        for (uint256 leg = 0; leg < 2; ++leg) {
            token.failTransfers(_belowLeast(leg));
            vm.expectRevert(_pullFailed(abi.encodeWithSignature("SafeERC20FailedOperation(address)", token)));
            v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
        }
        vm.stopPrank();
        assertEq(usdc.balanceOf(user), 1_000e6);
    }

    /// @dev A V2 pair reads the balance of its token behind the callback and passes on the reason: the one way in which
    /// a token can have a leg left out is its own, and then it stays with the user.
    function test_a_token_whose_balance_fails_can_have_only_its_own_leg_left_out() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1_000e6), _v2Leg(token, 1_000e18), _v2Leg(usdt, 1_000e6));
        Sweep memory s = _allSkippable(legs);
        address pair = _pool(V2, token, weth);
        token.failBalances(pair, _belowLeast(1));
        _sendSkipping(s, 1, ISweepBatch.SkipReason.BelowLeast);
        assertEq(token.balanceOf(user), 1_000e18);
        assertEq(usdc.balanceOf(user), 0);
        assertEq(usdt.balanceOf(user), 0);
    }

    function test_a_token_whose_balance_fails_for_another_leg_reverts_the_sweep() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1_000e6), _v2Leg(token, 1_000e18), _v2Leg(usdt, 1_000e6));
        Sweep memory s = _allSkippable(legs);
        address pair = _pool(V2, token, weth);
        for (uint256 leg = 0; leg < 3; leg += 2) {
            token.failBalances(pair, _belowLeast(leg));
            _expectRevert(s, _legFailed(1, pair, _belowLeast(leg)));
        }
        token.failBalances(pair, _legFailed(0, pair, _belowLeast(0)));
        _expectRevert(s, _legFailed(0, pair, _belowLeast(0)));
    }

    /// @dev The last hop has the number of legs as its index, which no leg has.
    function test_a_token_whose_balance_fails_has_the_last_hop_revert_the_sweep() public {
        ISweepBatch.Leg[] memory legs =
            _legs(_skippable(_joinedLeg(usdc, 1_000e6)), _skippable(_joinedLeg(usdt, 1_000e6)));
        _addV2Pool(token, address(dai), 1e24, 1e24);
        Sweep memory s = _sweep(_route(legs), address(token));
        (s.route.lastHop, s.route.maxSkipped) = (_hop(V2, 0), 2);
        _sign(s);
        address pair = _pool(V2, token, weth);
        for (uint256 leg = 0; leg < 3; ++leg) {
            token.failBalances(pair, _belowLeast(leg));
            _expectRevert(s, _legFailed(2, pair, _belowLeast(leg)));
        }
    }

    function test_a_token_without_approval_is_not_left_out() public {
        Sweep memory s = _allSkippable(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(dai, 1_000e18)));
        vm.prank(user);
        dai.approve(PERMIT2, 0);
        _expectRevert(s, _pullFailed(_text("TRANSFER_FROM_FAILED")));
    }

    // ---------------------------------------------------------------- the limit that the user signed

    function test_no_more_legs_are_left_out_than_the_user_signed() public {
        Sweep memory s = _allSkippable(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(dai, 1_000e18), _v2Leg(usdt, 1_000e6)));
        (s.route.legs[0].floor, s.route.legs[2].floor, s.route.maxSkipped) = (1e18, 1e18, 1);
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.TooManySkipped.selector, 2, 1));

        s.route.maxSkipped = 2; // the service's word alone: the user did not sign this
        _signRoute(s);
        _expectRevert(s, _pullFailed(abi.encodeWithSignature("InvalidSigner()")));
        assertEq(dai.balanceOf(user), 1_000e18);
    }

    function test_a_sweep_of_which_no_leg_is_left_reverts() public {
        Sweep memory s = _allSkippable(_legs(_v3Leg(usdc, 1_000e6), _v2Leg(dai, 1_000e18)));
        (s.route.legs[0].floor, s.route.legs[1].floor, s.route.maxSkipped) = (1e18, 1e18, 2);
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.AllLegsSkipped.selector, 2));
        assertFalse(v5.isNonceUsed(7));
    }

    // ---------------------------------------------------------------- legs that share a hop

    function test_with_all_joined_legs_left_out_the_last_hop_is_not_called() public {
        _addV3Pool(address(usdc), address(dai), 2_000_000e6, 2_000_000e18);
        ISweepBatch.Leg[] memory legs = _legs(_skippable(_joinedLeg(usdt, 1_000e6)), _v3Leg(usdc, 1_000e6));
        legs[0].hop = (legs[0].hop & type(uint128).max) | 1e18 << 128; // twice what it brings
        Sweep memory s = _sweep(_route(legs), address(dai));
        (s.route.lastHop, s.route.maxSkipped) = (_hop(V3, POOL_FEE), 1);
        _sign(s);
        vm.expectCall(_pool(V3, dai, weth), "", 0);
        _sendSkipping(s, 0, ISweepBatch.SkipReason.BelowLeast);
        assertEq(usdt.balanceOf(user), 1_000e6);
        assertGt(dai.balanceOf(user), 985e18);
        assertEq(weth.balanceOf(address(v5)), 0);
    }

    function test_a_swept_wrapped_coin_swaps_inside_the_last_hop_with_what_the_legs_brought() public {
        Sweep memory s = _sweep(_route(_legs(_joinedLeg(usdc, 1_000e6), _leg(weth, 0.5e18, JOINED))), address(dai));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        _fund(address(weth), address(v5), 3e18); // idle balance
        _send(s);
        assertApproxEqRel(dai.balanceOf(user), 1_970e18, 0.005e18);
        assertEq(weth.balanceOf(user), 0);
        assertEq(weth.balanceOf(address(v5)), 3e18);
    }

    function test_a_swept_wrapped_coin_beside_the_last_hop_needs_a_pool_of_its_own() public {
        Sweep memory s = _sweep(_route(_legs(_joinedLeg(usdc, 1_000e6), _v3Leg(weth, 0.5e18))), address(dai));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.DuplicatePool.selector, _pool(V3, dai, weth)));

        s.route.legs[1].hop = _hop(V2, 0);
        _sign(s);
        _send(s);
        assertApproxEqRel(dai.balanceOf(user), 1_970e18, 0.005e18);
        assertEq(weth.balanceOf(user), 0);
        assertEq(weth.balanceOf(address(v5)), 0);
    }

    /// @dev The legs that brought the rest were left out: the swept coin is swapped alone, and on its own floor.
    function test_a_swept_wrapped_coin_is_swapped_alone_if_the_legs_beside_it_are_left_out() public {
        ISweepBatch.Leg[] memory legs = _legs(_skippable(_joinedLeg(usdt, 1_000e6)), _leg(weth, 0.5e18, JOINED));
        legs[0].hop = (legs[0].hop & type(uint128).max) | 1e18 << 128;
        (legs[0].floor, legs[1].floor) = (900e18, 980e18);
        Sweep memory s = _sweep(_route(legs), address(dai));
        (s.route.lastHop, s.route.maxSkipped) = (_hop(V3, POOL_FEE), 1);
        _sign(s);
        _sendSkipping(s, 0, ISweepBatch.SkipReason.BelowLeast);
        assertGt(dai.balanceOf(user), 980e18);
        assertEq(usdt.balanceOf(user), 1_000e6);
    }
}
