// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostileTest} from "./support/HostileTest.sol";

/// @title OutOfGas
/// @notice A sweep that runs out of gas moves nothing, at whatever depth, and never leaves out a leg for it; and 30 legs
/// fit into the gas that a transaction may have. Calldata and the intrinsic gas of a transaction are not part of these
/// limits, which are those of the call.
contract OutOfGas is HostileTest {
    uint256 private constant TRANSACTION_GAS = 16_777_216; // EIP-7825
    uint256 private constant INTRINSIC_GAS = 21_000;
    uint256 private constant MOST_LEGS = 30;
    uint256 private constant STEP = 1_499; // fine enough to run out in every frame of every leg

    /// @dev What one gas limit leads to, undone.
    struct Outcome {
        bool success;
        uint256 output;
        bytes32 balances;
    }

    function _callWith(bytes memory call, address sender, IERC20 output, uint256 gasLimit)
        private
        returns (Outcome memory outcome)
    {
        uint256 snapshot = vm.snapshotState();
        uint256 before = output.balanceOf(sender);
        vm.prank(sender);
        (outcome.success,) = address(v5).call{gas: gasLimit}(call);
        outcome.output = output.balanceOf(sender) - before;
        outcome.balances = _balances(sender);
        assertTrue(vm.revertToState(snapshot));
    }

    function _balances(address sender) private view returns (bytes32) {
        return keccak256(
            abi.encode(
                usdc.balanceOf(sender),
                usdt.balanceOf(sender),
                dai.balanceOf(sender),
                wbtc.balanceOf(sender),
                taxed.balanceOf(sender),
                weth.balanceOf(sender),
                weth.balanceOf(address(v5)),
                v5.isNonceUsed(7)
            )
        );
    }

    /// @dev From too little for anything up to enough: until the first success nothing moves, and from there on the
    /// output is that of a sweep without a limit, which all legs paid for.
    function _expectAllOrNothing(bytes memory call, IERC20 output) private {
        bytes32 untouched = _balances(user);
        Outcome memory whole = _callWith(call, user, output, TRANSACTION_GAS);
        assertTrue(whole.success);
        uint256 successCount = 0;
        uint256 failureCount = 0;
        for (uint256 gasLimit = STEP; successCount < 20; gasLimit += STEP) {
            Outcome memory outcome = _callWith(call, user, output, gasLimit);
            assertEq(outcome.balances, outcome.success ? whole.balances : untouched);
            assertEq(outcome.output, outcome.success ? whole.output : 0);
            if (outcome.success) ++successCount;
            else ++failureCount;
        }
        assertGt(failureCount, 150);
    }

    /// @dev Every leg may be left out, and all but one: if running out of gas did it, it would be seen.
    function _skippableSweep(ISweepBatch.Leg[] memory legs, address output, uint256 lastHop)
        private
        view
        returns (Sweep memory s)
    {
        for (uint256 i = 0; i < legs.length; ++i) {
            legs[i].hop |= SKIPPABLE;
        }
        s = _sweep(_route(legs), output);
        (s.route.lastHop, s.route.maxSkipped) = (lastHop, legs.length);
        _sign(s);
    }

    function test_v3_and_v2_legs_run_out_of_gas_without_a_trace() public {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](4);
        (legs[0], legs[1]) = (_v3Leg(usdc, 1_000e6), _v2Leg(usdt, 1_000e6));
        (legs[2], legs[3]) = (_v2Leg(dai, 1_000e18), _v3Leg(wbtc, 1_000e8));
        _expectAllOrNothing(_dataOf(_skippableSweep(legs, address(weth), 0)), weth);
    }

    function test_a_v3_last_hop_runs_out_of_gas_without_a_trace() public {
        ISweepBatch.Leg[] memory legs = _legs(_joinedLeg(usdc, 1_000e6), _joinedLeg(usdt, 1_000e6));
        _expectAllOrNothing(_dataOf(_skippableSweep(legs, address(dai), _hop(V3, POOL_FEE))), dai);
    }

    function test_a_v2_last_hop_runs_out_of_gas_without_a_trace() public {
        ISweepBatch.Leg[] memory legs = _legs(_joinedLeg(usdc, 1_000e6), _joinedLeg(usdt, 1_000e6));
        _expectAllOrNothing(_dataOf(_skippableSweep(legs, address(dai), _hop(V2, 0))), dai);
    }

    function test_a_router_leg_beside_a_pool_leg_runs_out_of_gas_without_a_trace() public {
        ISweepBatch.Leg[] memory legs = _legs(_skippable(_v3Leg(usdc, 1_000e6)), _leg(usdt, 1_000e6, 0));
        Sweep memory s = _sweep(_route(legs), address(weth));
        s.route.maxSkipped = 2;
        s.route.routerCalls = new ISweepBatch.RouterCall[](1);
        s.route.routerCalls[0] = _v3Call(1, usdt, address(weth), 1_000e6, address(v5));
        _sign(s);
        _expectAllOrNothing(_dataOf(s), weth);
    }

    function test_a_callers_sweep_runs_out_of_gas_without_a_trace() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1_000e6), _v2Leg(dai, 1_000e18));
        Sweep memory s = _skippableSweep(legs, address(weth), 0);
        vm.startPrank(user);
        usdc.approve(address(v5), 1_000e6);
        dai.approve(address(v5), 1_000e18);
        vm.stopPrank();
        bytes memory call = abi.encodeCall(v5.sweepAsCaller, (s.route, s.authorization, s.authorizationSignature));
        _expectAllOrNothing(call, weth);
    }

    /// @dev A leg that is left out for its price is so at every limit that is enough, and no other with it.
    function test_a_leg_that_is_left_out_for_its_price_is_so_whatever_the_gas() public {
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1_000e6), _v2Leg(usdt, 1_000e6), _v3Leg(dai, 1_000e18));
        (legs[0].floor, legs[1].floor) = (1e18, 1e18); // twice what they bring
        _expectAllOrNothing(_dataOf(_skippableSweep(legs, address(weth), 0)), weth);
    }

    /// @dev A random limit in every range, for what the steps above leave out.
    function testFuzz_no_gas_limit_leaves_out_a_leg(uint256 gasLimit) public {
        gasLimit = bound(gasLimit, 30_000, 700_000);
        ISweepBatch.Leg[] memory legs = _legs(_v3Leg(usdc, 1_000e6), _v2Leg(usdt, 1_000e6), _v3Leg(dai, 1_000e18));
        bytes memory call = _dataOf(_skippableSweep(legs, address(weth), 0));
        bytes32 untouched = _balances(user);
        Outcome memory whole = _callWith(call, user, weth, TRANSACTION_GAS);
        Outcome memory outcome = _callWith(call, user, weth, gasLimit);
        assertEq(outcome.balances, outcome.success ? whole.balances : untouched);
    }

    // ---------------------------------------------------------------- thirty legs

    /// @dev What a transaction of the most expensive allowed calldata leaves for the call.
    function _gasBehind(bytes memory call) private pure returns (uint256) {
        return TRANSACTION_GAS - INTRINSIC_GAS - 40 * call.length;
    }

    function _thirty(uint16 venue, uint256 flags) private returns (ISweepBatch.Leg[] memory legs) {
        legs = new ISweepBatch.Leg[](MOST_LEGS);
        for (uint256 i = 0; i < MOST_LEGS; ++i) {
            IERC20 token = IERC20(deployCode(_artifact("MintableToken"), abi.encode("LEG", "LEG", uint8(18))));
            if (venue == V3) _addV3Pool(address(token), address(weth), 2_000_000e18, 1_000e18);
            else _addV2Pool(token, address(weth), 2_000_000e18, 1_000e18);
            legs[i] = _leg(token, 1_000e18, _hop(venue, venue == V3 ? POOL_FEE : 0) | flags);
        }
    }

    function _expectThirtySwept(Sweep memory s) private {
        bytes memory call = _dataOf(s);
        vm.prank(user);
        (bool success,) = address(v5).call{gas: _gasBehind(call)}(call);
        assertTrue(success);
        for (uint256 i = 0; i < MOST_LEGS; ++i) {
            assertEq(IERC20(s.route.legs[i].token).balanceOf(user), 0);
        }
    }

    function test_thirty_v3_legs_fit_into_a_transaction() public {
        _expectThirtySwept(_sweep(_route(_thirty(V3, 0)), address(weth)));
        assertGt(weth.balanceOf(user), 29 * 0.49e18);
    }

    function test_thirty_v2_legs_fit_into_a_transaction() public {
        _expectThirtySwept(_sweep(_route(_thirty(V2, 0)), address(weth)));
        assertGt(weth.balanceOf(user), 29 * 0.49e18);
    }

    function test_thirty_joined_legs_and_their_last_hop_fit_into_a_transaction() public {
        Sweep memory s = _sweep(_route(_thirty(V3, JOINED | 1 << 128)), address(usdc));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        _expectThirtySwept(s);
        assertGt(usdc.balanceOf(user), 29 * 940e6);
    }

    /// @dev The deepest frame has a small part of the gas, so a leg that fails there costs the most.
    function test_twenty_nine_legs_that_are_left_out_fit_into_a_transaction() public {
        ISweepBatch.Leg[] memory legs = _thirty(V3, SKIPPABLE);
        for (uint256 i = 0; i + 1 < MOST_LEGS; ++i) {
            legs[i].floor = 1e18;
        }
        Sweep memory s = _sweep(_route(legs), address(weth));
        s.route.maxSkipped = MOST_LEGS - 1;
        _sign(s);
        bytes memory call = _dataOf(s);
        vm.prank(user);
        (bool success,) = address(v5).call{gas: _gasBehind(call)}(call);
        assertTrue(success);
        assertEq(IERC20(legs[0].token).balanceOf(user), 1_000e18);
        assertGt(weth.balanceOf(user), 0.49e18);
    }
}
