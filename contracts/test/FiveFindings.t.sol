// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {SandwichingToken, TokenAlias, TwoAddressToken} from "./support/AttackingTokens.sol";
import {RouterDrainingToken} from "./support/Hostile.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title FiveFindings
/// @notice The five findings of an audit of this contract's first form, which called routers only, carried out again:
/// each was shown by running code, and its figures are from there.
contract FiveFindings is HostileTest {
    // ---------------------------------------------------------------- 1: the partial fill

    // A quoter quotes a swap that drains a thin pool as if it took the whole amount. The first form's route of two hops
    // through such a pool left 8.8 of 10 WETH on the router, for anyone to take.

    function _thinToken() private returns (IERC20 thin) {
        thin = IERC20(deployCode(_artifact("MintableToken"), abi.encode("THIN", "THIN", uint8(18))));
        _thinV3Pool(thin, 1.2e18);
    }

    function test_a_pool_leg_that_is_filled_in_part_is_refused() public {
        IERC20 thin = _thinToken();
        Sweep memory s = _sweep(_route(_legs(_v3Leg(thin, 10e18))), address(weth));
        (bool success, bytes memory answer) = _try(s);
        assertFalse(success);
        (uint256 owed, uint256 amount) = _partialFill(answer, 0, _pool(V3, thin, weth));
        assertApproxEqAbs(owed, 1.2e18, 0.02e18);
        assertEq(amount, 10e18);
        assertEq(thin.balanceOf(user), 10e18);
    }

    function test_a_last_hop_that_is_filled_in_part_is_refused() public {
        IERC20 thin = _thinToken();
        Sweep memory s = _sweep(_route(_legs(_joinedLeg(usdc, 20_000e6))), address(thin));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        (bool success, bytes memory answer) = _try(s);
        assertFalse(success);
        (uint256 owed, uint256 amount) = _partialFill(answer, 1, _pool(V3, thin, weth));
        assertApproxEqAbs(owed, 1.2e18, 0.02e18);
        assertApproxEqAbs(amount, 9.87e18, 0.01e18);
        assertEq(usdc.balanceOf(user), 20_000e6);
    }

    /// @dev Here only the floor helps, and only if it does not come from such a quote: the service refuses quotes that
    /// end at the limit of a price.
    function test_a_router_leg_that_is_filled_in_part_is_bounded_by_its_floor() public {
        IERC20 thin = _thinToken();
        bytes memory path = abi.encodePacked(usdc, POOL_FEE, weth, POOL_FEE, thin);
        ISweepBatch.RouterCall memory call = ISweepBatch.RouterCall(
            0,
            address(router),
            abi.encodeCall(ISwapRouter02.exactInput, (ISwapRouter02.ExactInputParams(path, address(v5), 20_000e6, 1)))
        );
        Sweep memory s = _sweep(_routerRoute(_leg(usdc, 20_000e6, 0), call), address(thin));
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertApproxEqAbs(weth.balanceOf(address(router)), 8.7e18, 0.1e18); // the finding
        assertTrue(vm.revertToState(snapshot));

        s.route.legs[0].floor = 9.7e18;
        _sign(s);
        vm.expectPartialRevert(ISweepBatch.BelowLeast.selector);
        _send(s);
        assertEq(usdc.balanceOf(user), 20_000e6);
    }

    function _try(Sweep memory s) private returns (bool success, bytes memory answer) {
        vm.prank(s.sender);
        return address(v5).call(_dataOf(s));
    }

    /// @dev Takes apart LegFailed(leg, pool, NotFilled(leg, owed, amount)).
    function _partialFill(bytes memory answer, uint256 leg, address pool)
        private
        pure
        returns (uint256 owed, uint256 amount)
    {
        assertEq(bytes4(answer), ISweepBatch.LegFailed.selector);
        (uint256 failedLeg, address target, bytes memory reason) =
            abi.decode(_arguments(answer), (uint256, address, bytes));
        assertEq(failedLeg, leg);
        assertEq(target, pool);
        assertEq(bytes4(reason), ISweepBatch.NotFilled.selector);
        (failedLeg, owed, amount) = abi.decode(_arguments(reason), (uint256, uint256, uint256));
        assertEq(failedLeg, leg);
    }

    // ---------------------------------------------------------------- 2: the sandwiching airdrop

    // An airdropped token sandwiched another leg inside the user's own transaction. In a pool of 20,000 dollars a side
    // the first form lost 96, 285 and 989 bps at a slippage of 1, 3 and 10 %.

    function _shallowToken() private returns (IERC20 token) {
        token = IERC20(deployCode(_artifact("MintableToken"), abi.encode("SHALLOW", "SHALLOW", uint8(18))));
        _addV2Pool(token, address(weth), 20_000e18, 10e18);
        _addV3Pool(address(token), address(weth), 20_000e18, 10e18);
    }

    function _airdrop() private returns (SandwichingToken airdrop) {
        airdrop = new SandwichingToken();
        _addPools(airdrop, 2_000_000e18);
    }

    /// @dev In any order, against both kinds of pools, however much it pushes.
    function test_a_sandwiching_airdrop_costs_pool_legs_not_one_unit() public {
        IERC20 victim = _shallowToken();
        SandwichingToken airdrop = _airdrop();
        for (uint256 i = 0; i < 4; ++i) {
            uint256 snapshot = vm.snapshotState();
            uint16 venue = i % 2 == 0 ? V3 : V2;
            ISweepBatch.Leg memory leg = venue == V3 ? _v3Leg(victim, 1_000e18) : _v2Leg(victim, 1_000e18);
            ISweepBatch.Leg memory bait = _v3Leg(airdrop, 1e18);
            Sweep memory s = _sweep(_route(i < 2 ? _legs(leg, bait) : _legs(bait, leg)), address(weth));
            uint256 fair = _fairOutput(s);
            _arm(airdrop, victim, venue, 5_000e18);
            _send(s);
            assertTrue(airdrop.pushed());
            assertEq(_text(airdrop.refusal()), venue == V3 ? "LOK" : "UniswapV2: LOCKED");
            assertEq(weth.balanceOf(user), fair);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    /// @dev A token that takes a transfer fee, or pretends to, comes as a router leg: its code runs later still.
    function test_a_sandwiching_router_leg_costs_pool_legs_not_one_unit() public {
        IERC20 victim = _shallowToken();
        SandwichingToken airdrop = _airdrop();
        ISweepBatch.Route memory route =
            _routerRoute(_leg(airdrop, 1e18, 0), _v3Call(0, airdrop, address(weth), 1e18, address(v5)));
        route.legs = _legs(route.legs[0], _v3Leg(victim, 1_000e18));
        Sweep memory s = _sweep(route, address(weth));
        uint256 fair = _fairOutput(s);
        _arm(airdrop, victim, V3, 5_000e18);
        _send(s);
        assertEq(_text(airdrop.refusal()), "LOK");
        assertEq(weth.balanceOf(user), fair);
    }

    function test_a_sandwiching_airdrop_costs_the_last_hop_not_one_unit() public {
        SandwichingToken airdrop = _airdrop();
        Sweep memory s = _sweep(_route(_legs(_joinedLeg(usdc, 1_000e6), _joinedLeg(airdrop, 1e18))), address(dai));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        uint256 fair = _fairOutput(s);
        _fund(address(weth), address(airdrop), 100e18);
        airdrop.arm(router, weth, dai, POOL_FEE, 100e18); // sells WETH in the last hop's pool
        _send(s);
        assertEq(_text(airdrop.refusal()), "LOK");
        assertEq(dai.balanceOf(user), fair);
    }

    /// @dev Two router legs beside each other: the attack works, down to the floor. The service sets it at most 50 bps
    /// below the quote, whatever slippage the user allows elsewhere.
    function test_a_sandwiching_airdrop_costs_router_legs_no_more_than_their_floor_allows() public {
        Sweep memory s = _routerVictim();
        SandwichingToken airdrop = SandwichingToken(s.route.legs[1].token);
        IERC20 victim = IERC20(s.route.legs[0].token);
        uint256 fair = _fairOutput(s);
        s.route.legs[0].floor = fair * 9_950 / 10_000 - 5e14; // the airdrop's own output is 5e14 net
        _sign(s);

        // The largest push that the floor admits: a bit more is refused.
        (uint256 low, uint256 high) = (1e18, 2_000e18);
        for (uint256 i = 0; i < 12; ++i) {
            uint256 push = (low + high) / 2;
            if (_paysAfter(s, airdrop, victim, push) != 0) low = push;
            else high = push;
        }
        uint256 paid = _paysAfter(s, airdrop, victim, low);
        uint256 lossBps = (fair - paid) * 10_000 / fair;
        assertGe(lossBps, 40); // the attack is real
        assertLe(lossBps, 50);
    }

    function _routerVictim() private returns (Sweep memory) {
        IERC20 victim = _shallowToken();
        SandwichingToken airdrop = _airdrop();
        ISweepBatch.Route memory route;
        route.legs = _legs(_leg(victim, 1_000e18, 0), _leg(airdrop, 1e18, 0));
        route.routerCalls = new ISweepBatch.RouterCall[](2);
        route.routerCalls[0] = _v3Call(0, victim, address(weth), 1_000e18, address(v5));
        route.routerCalls[1] = _v3Call(1, airdrop, address(weth), 1e18, address(v5));
        return _sweep(route, address(weth));
    }

    /// @dev What the user is paid, undone; zero if the sweep reverts.
    function _paysAfter(Sweep memory s, SandwichingToken airdrop, IERC20 victim, uint256 push)
        private
        returns (uint256 paid)
    {
        uint256 snapshot = vm.snapshotState();
        _arm(airdrop, victim, V3, push);
        (bool success, bytes memory answer) = _try(s);
        if (success) paid = weth.balanceOf(user);
        else assertEq(bytes4(answer), ISweepBatch.BelowLeast.selector);
        assertTrue(vm.revertToState(snapshot));
    }

    function _arm(SandwichingToken airdrop, IERC20 victim, uint16 venue, uint256 push) private {
        _fund(address(victim), address(airdrop), push);
        airdrop.arm(router, victim, weth, venue == V3 ? POOL_FEE : 0, push);
    }

    function _text(bytes memory answer) private pure returns (string memory) {
        return abi.decode(_arguments(answer), (string));
    }
}
