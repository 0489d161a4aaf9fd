// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {CallingToken, DishonestOutput, ErrorToken} from "./support/AttackingTokens.sol";
import {CallbackToken, RebasingToken} from "./support/Hostile.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

interface IV3Calls {
    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data) external;
    function flash(address recipient, uint256 amount0, uint256 amount1, bytes calldata data) external;
    function mint(address recipient, int24 lower, int24 upper, uint128 amount, bytes calldata data) external;
    function burn(int24 lower, int24 upper, uint128 amount) external;
    function collect(address recipient, int24 lower, int24 upper, uint128 amount0, uint128 amount1) external;
    function increaseObservationCardinalityNext(uint16 next) external;
}

interface IV2Calls {
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
    function mint(address to) external;
    function burn(address to) external;
    function skim(address to) external;
    function sync() external;
}

/// @title HostileTokens
/// @notice Swept tokens that run code while they are taken from the user, balances that change, and a hostile output
/// token. Prices inside a sweep are in FiveFindings.t.sol, errors that pass for verdicts in SkippingAttacks.t.sol.
contract HostileTokens is HostileTest {
    uint160 private constant LOWEST_LIMIT = 4295128740;
    uint160 private constant HIGHEST_LIMIT = 1461446703485210103287273052203988822378723970341;

    // ---------------------------------------------------------------- calls into the pools of the sweep

    function _addV3Calls(CallingToken token, address pool) private {
        token.add(pool, abi.encodeCall(IV3Calls.swap, (address(token), true, 1e6, LOWEST_LIMIT, "")));
        token.add(pool, abi.encodeCall(IV3Calls.swap, (address(token), false, 1e6, HIGHEST_LIMIT, "")));
        token.add(pool, abi.encodeCall(IV3Calls.flash, (address(token), 0, 1, "")));
        token.add(pool, abi.encodeCall(IV3Calls.mint, (address(token), -60, 60, 1e6, "")));
        token.add(pool, abi.encodeCall(IV3Calls.burn, (-60, 60, 0)));
        token.add(pool, abi.encodeCall(IV3Calls.collect, (address(token), -60, 60, 1, 1)));
        token.add(pool, abi.encodeCall(IV3Calls.increaseObservationCardinalityNext, (5)));
    }

    function _addV2Calls(CallingToken token, address pair) private {
        token.add(pair, abi.encodeCall(IV2Calls.swap, (1, 0, address(token), "")));
        token.add(pair, abi.encodeCall(IV2Calls.swap, (0, 1, address(token), "")));
        token.add(pair, abi.encodeCall(IV2Calls.mint, (address(token))));
        token.add(pair, abi.encodeCall(IV2Calls.burn, (address(token))));
        token.add(pair, abi.encodeCall(IV2Calls.skim, (address(token))));
        token.add(pair, abi.encodeCall(IV2Calls.sync, ()));
    }

    /// @dev Legs of both kinds before and after the token, and a last hop; the token calls every function of every pool
    /// that moves tokens or prices. Tokens that were taken before it lie in their pools at that time.
    function test_a_token_finds_every_pool_of_the_sweep_locked() public {
        CallingToken token = new CallingToken();
        _addPools(token, 2_000_000e18);
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](4);
        legs[0] = _joinedLeg(usdc, 1_000e6);
        legs[1] = _leg(usdt, 1_000e6, _hop(V2, 0) | JOINED | 1 << 128);
        legs[2] = _joinedLeg(token, 1_000e18);
        legs[3] = _leg(wbtc, 1_000e8, _hop(V2, 0) | JOINED | 1 << 128);
        Sweep memory s = _sweep(_route(legs), address(dai));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        uint256 fair = _fairOutput(s);
        address[3] memory v3Pools = [_pool(V3, usdc, weth), _pool(V3, token, weth), _pool(V3, dai, weth)];
        address[2] memory pairs = [_pool(V2, usdt, weth), _pool(V2, wbtc, weth)];
        for (uint256 i = 0; i < v3Pools.length; ++i) {
            _addV3Calls(token, v3Pools[i]);
        }
        for (uint256 i = 0; i < pairs.length; ++i) {
            _addV2Calls(token, pairs[i]);
        }
        _send(s);
        assertEq(token.answerCount(), 3 * 7 + 2 * 6);
        assertEq(token.successCount(), 0);
        for (uint256 i = 0; i < token.answerCount(); ++i) {
            string memory text = abi.decode(_arguments(token.answer(i)), (string));
            assertEq(text, i < 21 ? "LOK" : "UniswapV2: LOCKED");
        }
        assertEq(dai.balanceOf(user), fair);
        _expectUnlocked(token, v3Pools[0], pairs[0]);
    }

    /// @dev Outside of a sweep the same calls are answered otherwise, so it was the locks that refused them.
    function _expectUnlocked(CallingToken token, address v3Pool, address pair) private {
        uint256 first = token.answerCount();
        token.runCalls();
        for (uint256 i = first; i < token.answerCount(); ++i) {
            assertTrue(keccak256(token.answer(i)) != keccak256(_text("LOK")));
        }
        assertGt(token.successCount(), 0); // skim, sync, and a longer oracle
        assertGt(v3Pool.code.length * pair.code.length, 0);
    }

    /// @dev A pool outside of the sweep is open to anyone at any time, and nothing depends on it.
    function test_a_token_that_flashes_a_pool_outside_of_the_sweep_changes_nothing() public {
        CallingToken token = new CallingToken();
        _addPools(token, 2_000_000e18);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v3Leg(token, 1_000e18))), address(weth));
        uint256 fair = _fairOutput(s);
        address pool = _pool(V3, dai, weth);
        _fund(address(weth), address(token), 1e18);
        (uint256 amount0, uint256 amount1) = address(weth) < address(dai) ? (uint256(1e18), uint256(0)) : (0, 1e18);
        bytes memory data = abi.encode(weth, 1e18);
        token.add(pool, abi.encodeCall(IV3Calls.flash, (address(token), amount0, amount1, data)));
        _send(s);
        assertEq(token.successCount(), 1);
        assertEq(weth.balanceOf(user), fair);
    }

    // ---------------------------------------------------------------- balances that change

    function _rebasing() private returns (RebasingToken token) {
        token = new RebasingToken();
        _addPools(IERC20(address(token)), 2_000_000e18);
        token.rebase();
    }

    function test_a_rebasing_token_that_arrives_short_reverts_its_pool_leg() public {
        IERC20 token = IERC20(address(_rebasing()));
        for (uint256 amount = 1_000e18; amount < 1_000e18 + 3; ++amount) {
            Sweep memory s =
                _sweep(_route(_legs(_skippable(_v3Leg(token, amount)), _v3Leg(usdc, 1_000e6))), address(weth));
            s.route.maxSkipped = 1; // a transfer is not a price
            _sign(s);
            _expectRevert(s, _legFailed(0, _pool(V3, token, weth), _text("IIA")));
        }
        assertEq(usdc.balanceOf(user), 3_000e6);
    }

    function test_a_rebasing_token_leaves_at_most_two_units_as_a_router_leg() public {
        IERC20 token = IERC20(address(_rebasing()));
        _fund(address(token), address(v5), 700e18); // idle balance
        uint256 idle = token.balanceOf(address(v5));
        // One unit less than the leg's amount may arrive, and the route must allow for it.
        ISweepBatch.RouterCall memory call = _v3Call(0, token, address(weth), 1_000e18 - 2, address(v5));
        _send(_sweep(_routerRoute(_leg(token, 1_000e18, 0), call), address(weth)));
        assertGt(weth.balanceOf(user), 0.4e18);
        assertApproxEqAbs(token.balanceOf(address(v5)), idle, 2);
        assertEq(token.allowance(address(v5), address(router)), 0);
    }

    function test_growth_of_a_rebasing_token_during_the_sweep_goes_to_the_user() public {
        RebasingToken token = _rebasing();
        CallbackToken callbackToken = new CallbackToken();
        _addPools(callbackToken, 1e24);
        ISweepBatch.Route memory route;
        route.legs = _legs(_leg(IERC20(address(token)), 1_000e18, 0), _leg(callbackToken, 1e18, 0));
        route.routerCalls = new ISweepBatch.RouterCall[](2);
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(token), address(weth));
        route.routerCalls[0] = _v2Call(0, path, 1_000e18 - 2, address(v5));
        route.routerCalls[1] = _v3Call(1, callbackToken, address(weth), 1e18, address(v5));
        Sweep memory s = _sweep(route, address(weth));
        callbackToken.arm(address(token), abi.encodeCall(RebasingToken.rebase, ())); // before its swap
        _send(s);
        assertGt(token.balanceOf(user), 100e18);
        assertLe(token.balanceOf(address(v5)), 2);
    }

    // ---------------------------------------------------------------- a hostile output token

    function _outputSweep(IERC20 output, uint256 hop) private returns (Sweep memory s) {
        _addV3Pool(address(usdc), address(output), 2_000_000e6, 2_000_000e18);
        s = _sweep(_route(_legs(_leg(usdc, 1_000e6, hop))), address(output));
    }

    /// @dev Who chooses such a token gets what it is worth. It costs that user's signed tokens and nothing else: no idle
    /// balance of another token, and no approval.
    function test_a_hostile_output_token_costs_what_its_user_signed_and_nothing_else() public {
        DishonestOutput output = new DishonestOutput();
        Sweep memory s = _outputSweep(output, _hop(V3, POOL_FEE));
        _fund(address(usdc), user, 70e6);
        _fund(address(usdc), address(v5), 500e6);
        _fund(address(weth), address(v5), 1e18);
        output.setBonus(address(v5), 1e30); // claims that the contract received more than it did
        vm.expectPartialRevert(ISweepBatch.FeeTransferFailed.selector);
        _send(s);
        output.setBonus(user, 1e30); // and that the user did
        output.setBonus(address(v5), 0);
        s.route.legs[0].floor = 1e29;
        _sign(s);
        vm.expectPartialRevert(ISweepBatch.LegFailed.selector); // its pool says what it pays
        _send(s);
        s.route.legs[0].floor = 1;
        _sign(s);
        _send(s);
        assertEq(usdc.balanceOf(user), 70e6);
        assertEq(usdc.balanceOf(address(v5)), 500e6);
        assertEq(weth.balanceOf(address(v5)), 1e18);
        assertEq(output.balanceOf(address(v5)), 0);
    }

    function test_an_output_token_that_runs_code_while_it_is_paid_out_pushes_later_prices_to_their_floors_only()
        public
    {
        DishonestOutput output = new DishonestOutput();
        Sweep memory s = _outputSweep(output, _hop(V3, POOL_FEE));
        _addV3Pool(address(dai), address(output), 2_000_000e18, 2_000_000e18);
        s.route.legs = _legs(s.route.legs[0], _v3Leg(dai, 1_000e18));
        s.route.legs[1].floor = 980e18;
        _sign(s);
        _fund(address(dai), address(output), 100_000e18);
        output.callOnTransfer(
            address(router),
            abi.encodeCall(
                ISwapRouter02.exactInputSingle,
                (ISwapRouter02.ExactInputSingleParams(
                        address(dai), address(output), POOL_FEE, address(output), 100_000e18, 0, 0
                    ))
            ),
            dai
        );
        vm.expectPartialRevert(ISweepBatch.LegFailed.selector);
        _send(s);
        assertEq(dai.balanceOf(user), 1_000e18);
    }
}
