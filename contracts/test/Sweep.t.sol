// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {Executed} from "./support/Executed.sol";
import {BlocklistToken, RebasingToken, ReturnsFalseToken, RevertsOnZeroToken} from "./support/Hostile.sol";
import {OutcomeTest} from "./support/OutcomeTest.sol";

/// @notice Takes one unit more than is transferred from one account.
contract LeakyToken is ERC20 {
    address private immutable LEAKING;

    constructor(address leaking) ERC20("Leaky", "LEAK") {
        LEAKING = leaking;
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (from == LEAKING) super._update(from, address(0), 1);
    }
}

/// @title Sweep
/// @notice The effect of a sweep on all balances, for every kind of leg, token and split, and that nothing is left
/// behind. Legs that meet in a last hop are covered in LastHop.t.sol, skipping in Skipping.t.sol.
contract SweepOutcome is OutcomeTest {
    using SafeERC20 for IERC20;

    // ---------------------------------------------------------------- kinds of legs, decimals

    function test_a_v3_pool_leg_brings_what_the_router_brings_from_the_same_pool() public {
        uint256 gross = _grossOf(_usdcSweep());
        assertEq(gross, _grossOf(_usdcRouterSweep()));
        assertGt(gross, 0.49e18);
    }

    function test_a_v2_pool_leg_brings_what_the_router_brings_from_the_same_pair() public {
        uint256 gross = _grossOf(_sweep(_route(_legs(_v2Leg(usdc, 1_000e6))), address(weth)));
        assertEq(gross, _grossOf(_routerSweep(usdc, 1_000e6, 1_000e6)));
        assertGt(gross, 0.49e18);
    }

    function test_either_order_of_the_tokens_in_a_pool_is_swapped() public {
        (IERC20 low, IERC20 high) = (IERC20(_tokenAt(0x1000)), IERC20(_tokenAt(type(uint160).max - 0xff)));
        for (uint16 venue = V3; venue <= V2; ++venue) {
            uint256 gross = 0;
            for (uint256 i = 0; i < 2; ++i) {
                IERC20 token = i == 0 ? low : high;
                ISweepBatch.Leg memory leg = venue == V3 ? _v3Leg(token, 1_000e18) : _v2Leg(token, 1_000e18);
                uint256 got = _grossOf(_sweep(_route(_legs(leg)), address(weth)));
                if (i == 0) gross = got;
                assertApproxEqAbs(got, gross, 1);
            }
            assertGt(gross, 0.49e18);
        }
    }

    function _tokenAt(uint160 place) private returns (address token) {
        token = address(place);
        deployCodeTo(_artifact("MintableToken"), abi.encode("TOKEN", "TOKEN", uint8(18)), token);
        _addPools(IERC20(token), POOL_TOKENS * 1e18);
    }

    function test_tokens_with_zero_to_thirty_decimals_are_swept_into_one() public {
        IERC20 whole = _tokenWithPools("MintableToken", "WHOLE", 0);
        IERC20 fine = _token("FINE", 30);
        _addV3Pool(address(fine), address(weth), POOL_TOKENS * 1e30, POOL_WETH);
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](7);
        legs[0] = _v3Leg(gusd, 1_000e2);
        legs[1] = _v2Leg(usdc, 1_000e6);
        legs[2] = _v3Leg(usdt, 1_000e6);
        legs[3] = _v2Leg(wbtc, 1_000e8);
        legs[4] = _v3Leg(dai, 1_000e18);
        legs[5] = _v2Leg(whole, 1_000);
        legs[6] = _v3Leg(fine, 1_000e30);
        assertGt(_sendAndVerify(_sweep(_route(legs), address(weth))).grossOutput, 3.43e18);
    }

    function test_router_legs_and_pool_legs_run_in_one_sweep() public {
        ISweepBatch.Route memory route =
            _route(_legs(_leg(usdt, 1_000e6, 0), _v3Leg(dai, 1_000e18), _leg(wbtc, 1_000e8, 0)));
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(wbtc), address(weth));
        route.routerCalls =
            _calls(_v3Call(0, usdt, address(weth), 1_000e6, address(v5)), _v2Call(2, path, 1_000e8, address(v5)));
        assertGt(_sendAndVerify(_sweep(route, address(weth))).grossOutput, 1.47e18);
    }

    function test_a_router_leg_takes_a_route_of_several_hops() public {
        ISweepBatch.Route memory route = _routerRoute(_leg(usdc, 1_000e6, 0), _v3PathCall(0, usdc, usdt, 1_000e6));
        assertGt(_sendAndVerify(_sweep(route, address(usdt))).grossOutput, 980e6);
    }

    /// @dev The wrapped native token is an input like any other if the output has a pool with it.
    function test_the_wrapped_native_token_is_swapped_into_a_token() public {
        IERC20[3] memory outputs = [usdt, gusd, dai];
        uint256[3] memory least = [uint256(1_960e6), 1_960e2, 1_960e18];
        for (uint256 i = 0; i < 3; ++i) {
            for (uint16 venue = V3; venue <= V2; ++venue) {
                uint256 hop = _hop(venue, venue == V3 ? POOL_FEE : 0);
                Sweep memory s = _sweep(_route(_legs(_leg(weth, 1e18, hop))), address(outputs[i]));
                assertGt(_grossOf(s), least[i]);
            }
        }
    }

    // ---------------------------------------------------------------- the split

    function test_without_a_fee_the_user_receives_everything() public {
        Sweep memory s = _usdcSweep();
        s.authorization.totalFeeBps = 0;
        _sign(s);
        Executed memory e = _sendAndVerify(s);
        assertEq(e.userAmount, e.grossOutput);
    }

    function test_without_a_partner_share_the_protocol_receives_the_fee() public {
        Sweep memory s = _usdcSweep();
        s.authorization.partnerShareBps = 0;
        _sign(s);
        Executed memory e = _sendAndVerify(s);
        assertEq(e.protocolFee, e.totalFee);
        assertGt(e.totalFee, 0);
    }

    function test_with_a_full_partner_share_the_partner_receives_the_fee() public {
        Sweep memory s = _usdcSweep();
        s.authorization.partnerShareBps = 10_000;
        _sign(s);
        Executed memory e = _sendAndVerify(s);
        assertEq(e.partnerFee, e.totalFee);
        assertGt(e.totalFee, 0);
    }

    /// @dev A few units of a token in a pool at par yield outputs as small as needed: rounding favors the user.
    function testFuzz_fees_round_down(uint256 amount, uint16 totalFeeBps, uint16 partnerShareBps) public {
        IERC20 par = _token("PAR", 18);
        _addV3Pool(address(par), address(weth), 1e24, 1e24);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(par, bound(amount, 4, 50_000)))), address(weth));
        s.authorization.totalFeeBps = uint16(bound(totalFeeBps, 0, 300));
        s.authorization.partnerShareBps = uint16(bound(partnerShareBps, 0, 10_000));
        s.route.legs[0].floor = 0;
        _sign(s);
        _sendAndVerify(s);
    }

    // ---------------------------------------------------------------- the user's floor

    /// @dev The floor is net of the fee.
    function test_a_pool_leg_pays_its_floor_or_the_sweep_reverts() public {
        for (uint16 venue = V3; venue <= V2; ++venue) {
            ISweepBatch.Leg memory leg = venue == V3 ? _v3Leg(usdc, 1_000e6) : _v2Leg(usdc, 1_000e6);
            Sweep memory s = _sweep(_route(_legs(leg)), address(weth));
            uint256 gross = _grossOf(s);

            s.route.legs[0].floor = gross * 9_925 / 10_000;
            _sign(s);
            assertEq(_grossOf(s), gross);

            s.route.legs[0].floor += 1;
            _sign(s);
            _expectRevert(s, _legFailed(0, _pool(venue, usdc), _belowLeast(0, gross, gross + 1)));
            assertEq(usdc.balanceOf(user), (venue == V3 ? 1_000e6 : 2_000e6));
            assertFalse(v5.isNonceUsed(7));
        }
    }

    /// @dev The output token takes a transfer fee: the user must receive the floors after it.
    function test_the_floors_are_measured_by_the_users_balance() public {
        Sweep memory s = _sweep(_route(_legs(_leg(weth, 1e18, _hop(V2, 0)))), address(taxed));
        uint256 snapshot = vm.snapshotState();
        _send(s);
        uint256 arrived = taxed.balanceOf(user);
        vm.revertToState(snapshot);
        assertGt(arrived, 1_900e18);

        s.route.legs[0].floor = arrived;
        _sign(s);
        snapshot = vm.snapshotState();
        _send(s);
        vm.revertToState(snapshot);

        s.route.legs[0].floor = arrived + 1;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.InsufficientUserOutput.selector, arrived, arrived + 1));
    }

    // ---------------------------------------------------------------- idle balances and leftovers

    function test_idle_tokens_are_neither_paid_out_nor_spent() public {
        _fund(address(weth), address(v5), 5e18);
        _fund(address(usdc), address(v5), 700e6);
        assertLt(_grossOf(_usdcSweep()), 0.5e18);
        assertLt(_grossOf(_usdcRouterSweep()), 0.5e18);
        Sweep memory s = _sweep(_joinedRoute(_legs(_joinedLeg(usdc, 1_000e6)), _hop(V3, POOL_FEE)), address(dai));
        assertLt(_grossOf(s), 1_000e18);
    }

    /// @dev Of the leg's token before the pull, and of the output before the swap.
    function test_an_idle_balance_that_grows_past_128_bits_is_measured() public {
        _fund(address(dai), address(v5), type(uint128).max);
        ISweepBatch.RouterCall memory call = _v3Call(0, dai, address(weth), 1_000e18, address(v5));
        assertGt(_grossOf(_sweep(_routerRoute(_leg(dai, 1_000e18, 0), call), address(weth))), 0.49e18);
        call = _v3PathCall(0, usdc, dai, 1_000e6);
        assertGt(_grossOf(_sweep(_routerRoute(_leg(usdc, 1_000e6, 0), call), address(dai))), 980e18);
    }

    function test_a_router_leg_cannot_spend_the_idle_balance_of_its_token() public {
        _fund(address(usdc), address(v5), 700e6);
        Sweep memory s = _usdcRouterSweep();
        s.route.legs[0].amount = 999e6; // the call still spends 1,000
        _sign(s);
        _expectRevert(s, _legFailed(0, address(router), _text("STF")));
    }

    function test_what_a_router_leaves_unspent_is_returned_to_the_user() public {
        ISweepBatch.RouterCall memory call = _v3Call(0, usdt, address(weth), 400e6, address(v5));
        _fund(address(usdt), address(v5), 700e6); // idle, not the user's
        _send(_sweep(_routerRoute(_leg(usdt, 1_000e6, 0), call), address(weth)));
        assertEq(usdt.balanceOf(user), 600e6);
        assertEq(usdt.balanceOf(address(v5)), 700e6);
        assertEq(usdt.allowance(address(v5), address(router)), 0);
    }

    /// @dev An earlier leg's token can come back through a later leg's route; it belongs to the user.
    function test_an_input_that_a_later_router_leg_brings_back_is_returned_to_the_user() public {
        ISweepBatch.Route memory route = _route(_legs(_leg(usdc, 1_000e6, 0), _leg(dai, 1_000e18, 0)));
        route.legs[1].floor = 0;
        route.routerCalls =
            _calls(_v3Call(0, usdc, address(weth), 1_000e6, address(v5)), _v3PathCall(1, dai, usdc, 1_000e18));
        _send(_sweep(route, address(weth)));
        assertGt(usdc.balanceOf(user), 980e6);
        assertEq(usdc.balanceOf(address(v5)), 0);
    }

    // ---------------------------------------------------------------- unusual tokens

    /// @dev V2 pairs take a transfer fee for too small a payment.
    function test_a_token_with_a_transfer_fee_cannot_be_a_pool_leg() public {
        Sweep memory s = _sweep(_route(_legs(_v2Leg(taxed, 1_000e18))), address(weth));
        _expectRevert(s, _legFailed(0, _pool(V2, taxed), _text("UniswapV2: K")));
    }

    function test_a_token_with_a_transfer_fee_is_swept_if_the_router_call_spends_what_arrives() public {
        assertGt(_grossOf(_routerSweep(taxed, 1_000e18, 990e18)), 0.48e18);
    }

    function test_a_token_with_a_transfer_fee_fails_if_the_router_call_spends_what_was_sent() public {
        _fund(address(taxed), address(v5), 500e18); // the idle balance does not cover the transfer fee
        _expectRevert(_routerSweep(taxed, 1_000e18, 1_000e18), _legFailed(0, address(router), _text("STF")));
    }

    /// @dev A sweep through the router and the V2 pair with the wrapped native token.
    function _routerSweep(IERC20 token, uint256 amount, uint256 spent) private returns (Sweep memory) {
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(token), address(weth));
        return _sweep(_routerRoute(_leg(token, amount, 0), _v2Call(0, path, spent, address(v5))), address(weth));
    }

    function test_tokens_that_return_false_or_revert_on_zero_are_swept() public {
        IERC20[2] memory tokens = [IERC20(new ReturnsFalseToken()), IERC20(new RevertsOnZeroToken())];
        for (uint256 i = 0; i < 2; ++i) {
            _addPools(tokens[i], POOL_TOKENS * 1e18);
            assertGt(_grossOf(_sweep(_route(_legs(_v3Leg(tokens[i], 1_000e18))), address(weth))), 0.49e18);
            assertGt(_grossOf(_sweep(_route(_legs(_v2Leg(tokens[i], 1_000e18))), address(weth))), 0.49e18);
            assertGt(_grossOf(_routerSweep(tokens[i], 1_000e18, 1_000e18)), 0.49e18);
            assertGt(_grossOf(_sweep(_route(_legs(_leg(weth, 1e18, _hop(V2, 0)))), address(tokens[i]))), 1_960e18);
        }
    }

    /// @dev Shares are transferred, so a unit less than the amount may arrive.
    function test_a_rebasing_token_that_arrives_short_is_swept_through_the_router_only() public {
        IERC20 rebasing = IERC20(address(new RebasingToken()));
        _addPools(rebasing, POOL_TOKENS * 1e18);
        RebasingToken(address(rebasing)).rebase();
        uint256 amount = 1_000e18 + 1;
        Sweep memory s = _sweep(_route(_legs(_v3Leg(rebasing, amount))), address(weth));
        _expectRevert(s, _legFailed(0, _pool(V3, rebasing), _text("IIA")));
        s = _routerSweep(rebasing, amount, amount - 2);
        _send(s);
        assertGt(weth.balanceOf(user), 0.4e18);
        assertLt(rebasing.balanceOf(address(v5)), 3);
    }

    /// @dev As rounding may leave it: nothing is returned then.
    function test_a_token_of_which_less_is_left_than_there_was_before_is_swept() public {
        IERC20 leaky = IERC20(address(new LeakyToken(address(v5))));
        _addPools(leaky, POOL_TOKENS * 1e18);
        _fund(address(leaky), address(v5), 10);
        _send(_routerSweep(leaky, 1_000e18, 1_000e18));
        assertEq(leaky.balanceOf(address(v5)), 9);
        assertEq(leaky.balanceOf(user), 0);
    }

    function test_a_token_that_the_user_does_not_have_makes_the_sweep_revert() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(dai, 1_000e18))), address(weth));
        vm.prank(user);
        dai.safeTransfer(partner, 1);
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.PullFailed.selector, _text("TRANSFER_FROM_FAILED"));
        _expectRevert(s, expected);
        vm.prank(partner);
        dai.safeTransfer(user, 1);
        vm.prank(user);
        dai.approve(PERMIT2, 1_000e18 - 1);
        _expectRevert(s, expected);
    }

    function test_a_fee_recipient_that_the_output_token_blocks_makes_the_sweep_revert() public {
        BlocklistToken blocking = new BlocklistToken();
        _addV3Pool(address(usdc), address(blocking), 1e12, 1e24);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1e6))), address(blocking));
        _expectFeeTransferFailed(s, blocking, partner);
        _expectFeeTransferFailed(s, blocking, protocol);
    }

    function _expectFeeTransferFailed(Sweep memory s, BlocklistToken token, address recipient) private {
        token.blockAccount(address(0xdead));
        uint256 snapshot = vm.snapshotState();
        _send(s);
        uint256 amount = token.balanceOf(recipient);
        vm.revertToState(snapshot);
        assertGt(amount, 0);
        token.blockAccount(recipient);
        _expectRevert(
            s, abi.encodeWithSelector(ISweepBatch.FeeTransferFailed.selector, address(token), recipient, amount)
        );
    }
}
