// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {OutcomeTest} from "./support/OutcomeTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @notice Answers every call with the same words, or reverts with them.
contract Answer {
    bytes private words;
    bool private fails;

    constructor(bytes memory words_, bool fails_) {
        (words, fails) = (words_, fails_);
    }

    fallback() external {
        bytes memory answer = words;
        bool isRevert = fails;
        assembly ("memory-safe") {
            if isRevert { revert(add(answer, 0x20), mload(answer)) }
            return(add(answer, 0x20), mload(answer))
        }
    }
}

/// @title RouterLegsTest
/// @notice Which calls of routers are accepted, in which order, what they must bring, and how they fail. Data that is
/// too short is covered in BadInput.t.sol.
contract RouterLegsTest is OutcomeTest {
    bytes4 private constant SWAP = ISwapRouter02.exactInputSingle.selector;

    /// @dev Two router legs and a pool leg between them.
    function _mixedRoute() private returns (ISweepBatch.Route memory route) {
        route = _route(_legs(_leg(usdc, 1_000e6, 0), _v3Leg(wbtc, 1_000e8), _leg(dai, 1_000e18, 0)));
        route.routerCalls = _calls(_call(0, usdc, 1_000e6), _call(2, dai, 1_000e18));
    }

    function _call(uint256 leg, IERC20 token, uint256 amount) private view returns (ISweepBatch.RouterCall memory) {
        return _v3Call(leg, token, address(weth), amount, address(v5));
    }

    // ---------------------------------------------------------------- which legs have a call

    function test_each_router_leg_needs_its_call() public {
        ISweepBatch.Route memory route = _mixedRoute();
        assertGt(_grossOf(_sweep(route, address(weth))), 1.47e18);

        route.routerCalls = new ISweepBatch.RouterCall[](0);
        _expectUnrouted(route, 0, usdc);
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _call(0, usdc, 1_000e6);
        _expectUnrouted(route, 2, dai);
        route.routerCalls[0] = _call(2, dai, 1_000e18);
        _expectUnrouted(route, 0, usdc);
    }

    function test_router_calls_must_be_in_the_order_of_the_legs() public {
        ISweepBatch.Route memory route = _mixedRoute();
        (route.routerCalls[0], route.routerCalls[1]) = (route.routerCalls[1], route.routerCalls[0]);
        _expectUnrouted(route, 0, usdc);
    }

    function test_a_leg_that_needs_no_router_call_must_not_have_one() public {
        ISweepBatch.Route memory route = _mixedRoute();
        route.routerCalls[1] = _call(1, wbtc, 1_000e8); // a pool leg
        _expectUnrouted(route, 2, dai);

        route.legs[2].hop = _hop(V3, POOL_FEE);
        _expectNotExpected(_sweep(route, address(weth)), 1);
        (route.legs[1].hop, route.maxSkipped) = (DROPPED, 1);
        _expectNotExpected(_sweep(route, address(weth)), 1);

        _expectNotExpected(_sweep(_routerRoute(_wethLeg(1e18), _call(0, weth, 1e18)), NATIVE), 0);
    }

    function test_a_router_call_for_a_leg_that_has_one_or_does_not_exist_is_refused() public {
        uint256[4] memory others = [uint256(0), 1, 30, type(uint256).max];
        for (uint256 i = 0; i < others.length; ++i) {
            Sweep memory s = _usdcRouterSweep();
            s.route.routerCalls = _calls(s.route.routerCalls[0], _call(others[i], usdc, 1_000e6));
            _sign(s);
            _expectNotExpected(s, others[i]);
        }
    }

    function test_the_wrapped_native_token_can_be_unwrapped_but_not_routed() public {
        ISweepBatch.Route memory route = _route(_legs(_wethLeg(1e18)));
        _expectUnroutedInto(route, 0, weth, address(dai));
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3Call(0, weth, address(dai), 1e18, address(v5));
        _expectUnroutedInto(route, 0, weth, address(dai));
    }

    function _expectUnrouted(ISweepBatch.Route memory route, uint256 leg, IERC20 token) private {
        _expectUnroutedInto(route, leg, token, address(weth));
    }

    function _expectUnroutedInto(ISweepBatch.Route memory route, uint256 leg, IERC20 token, address output) private {
        _expectRevert(
            _sweep(route, output), abi.encodeWithSelector(ISweepBatch.UnroutedLegInvalid.selector, leg, address(token))
        );
    }

    function _expectNotExpected(Sweep memory s, uint256 leg) private {
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterCallNotExpected.selector, leg));
    }

    // ---------------------------------------------------------------- which calls are allowed

    function test_a_function_that_is_not_listed_is_refused() public {
        Sweep memory s = _usdcRouterSweep();
        bytes4 multicall = bytes4(keccak256("multicall(bytes[])"));
        s.route.routerCalls[0].data = abi.encodeWithSelector(multicall, new bytes[](0));
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterNotAllowed.selector, 0, address(router), multicall));
    }

    function test_a_router_that_is_not_listed_is_refused() public {
        Sweep memory s = _usdcRouterSweep();
        address stranger = makeAddr("router");
        s.route.routerCalls[0].router = stranger;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterNotAllowed.selector, 0, stranger, SWAP));
    }

    function test_a_removed_router_is_refused() public {
        Sweep memory s = _usdcRouterSweep();
        v5.removeRouter(address(router), SWAP);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterNotAllowed.selector, 0, address(router), SWAP));
    }

    function test_a_router_without_code_is_refused() public {
        Sweep memory s = _usdcRouterSweep();
        vm.etch(address(router), "");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterWithoutCode.selector, 0, address(router)));
    }

    /// @dev Calling a token of the sweep as a router could transfer this contract's balance of it.
    function test_a_router_must_not_be_a_token_of_the_sweep() public {
        v5.allowRouter(address(dai), ISwapRouter02.exactInput.selector, address(dai));
        ISweepBatch.RouterCall memory call =
            ISweepBatch.RouterCall(0, address(dai), abi.encodePacked(ISwapRouter02.exactInput.selector));
        ISweepBatch.Route memory route = _routerRoute(_leg(usdc, 1e6, 0), call);
        _expectRouterIsToken(route, address(dai), 0); // the output

        route.legs = _legs(route.legs[0], _v3Leg(dai, 1e18)); // a later leg
        _expectRouterIsToken(route, address(weth), 0);

        (route.legs[0], route.legs[1]) = (route.legs[1], route.legs[0]); // an earlier one
        route.routerCalls[0].leg = 1;
        _expectRouterIsToken(route, address(weth), 1);

        route.legs = _legs(_leg(dai, 1e18, 0)); // the leg itself
        route.routerCalls[0].leg = 0;
        _expectRouterIsToken(route, address(weth), 0);

        (route.legs, route.maxSkipped) = (_legs(_leg(usdc, 1e6, 0), _leg(dai, 1e18, DROPPED)), 1); // a dropped one
        _expectRouterIsToken(route, address(weth), 0);
    }

    function _expectRouterIsToken(ISweepBatch.Route memory route, address output, uint256 leg) private {
        _expectRevert(
            _sweep(route, output), abi.encodeWithSelector(ISweepBatch.RouterIsToken.selector, leg, address(dai))
        );
    }

    // ---------------------------------------------------------------- what a call brings

    function test_a_router_leg_brings_its_floor_or_the_sweep_reverts() public {
        ISweepBatch.Route memory route = _mixedRoute();
        uint256 gross = _grossOf(_usdcRouterSweep());
        route.legs[0].floor = gross * 9_925 / 10_000;
        _grossOf(_sweep(route, address(weth)));
        route.legs[0].floor += 1;
        _expectRevert(_sweep(route, address(weth)), _belowLeast(0, gross, gross + 1));

        (route.legs[0].floor, route.legs[2].floor) = (1, 1e18);
        (, uint256 got) = _fill(dai, weth, 1_000e18);
        _expectRevert(_sweep(route, address(weth)), _belowLeast(2, got, (1e22 + 9_924) / uint256(9_925)));
    }

    /// @dev What other legs bring does not count for it.
    function test_output_sent_elsewhere_does_not_count() public {
        ISweepBatch.Route memory route = _mixedRoute();
        route.routerCalls[1] = _v3Call(2, dai, address(weth), 1_000e18, makeAddr("thief"));
        _expectRevert(_sweep(route, address(weth)), _belowLeast(2, 0, 2));
    }

    function test_another_token_does_not_count_as_output() public {
        Sweep memory s = _usdcRouterSweep(); // brings WETH
        s.authorization.outputToken = address(dai);
        _sign(s);
        _expectRevert(s, _belowLeast(0, 0, 2));
    }

    function test_a_floor_of_zero_accepts_nothing() public {
        ISweepBatch.Route memory route = _mixedRoute();
        route.legs[2].floor = 0;
        route.routerCalls[1] = _v3Call(2, dai, address(weth), 1_000e18, makeAddr("friend"));
        _grossOf(_sweep(route, address(weth)));
    }

    // ---------------------------------------------------------------- failures

    function test_a_failed_call_reverts_with_the_legs_index_and_reason() public {
        ISweepBatch.Route memory route = _mixedRoute();
        route.routerCalls[1].data = abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams(
                    address(dai), address(weth), POOL_FEE, address(v5), 1_000e18, 1_000e18, 0
                ))
        );
        _expectRevert(_sweep(route, address(weth)), _legFailed(2, address(router), _text("Too little received")));
    }

    function test_revert_data_of_any_length_is_passed_on_unchanged() public {
        uint8[6] memory lengths = [0, 1, 31, 32, 33, 100];
        for (uint256 i = 0; i < lengths.length; ++i) {
            bytes memory reason = new bytes(lengths[i]);
            for (uint256 j = 0; j < reason.length; ++j) {
                reason[j] = bytes1(uint8(j + 1));
            }
            vm.mockCallRevert(address(router), abi.encodePacked(SWAP), reason);
            _expectRevert(_usdcRouterSweep(), _legFailed(0, address(router), reason));
        }
    }

    // ---------------------------------------------------------------- balances

    function test_a_token_whose_balance_cannot_be_read_makes_the_sweep_revert_with_its_reason() public {
        Sweep memory s = _routerSweepOf(new Answer("broken", true));
        _expectRevert(s, "broken");
    }

    function test_a_token_that_answers_too_little_for_its_balance_makes_the_sweep_revert() public {
        Sweep memory s = _routerSweepOf(new Answer(new bytes(31), false));
        _expectRevert(s, "");
    }

    function _routerSweepOf(Answer token) private view returns (Sweep memory) {
        ISweepBatch.Leg memory leg = ISweepBatch.Leg(address(token), 1e18, 1, 0);
        ISweepBatch.RouterCall memory call = _v3Call(0, IERC20(address(token)), address(weth), 1e18, address(v5));
        return _sweep(_routerRoute(leg, call), address(weth));
    }
}
