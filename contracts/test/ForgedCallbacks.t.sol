// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {CallbackToken} from "./support/Hostile.sol";
import {HostileFactory, HostilePool, PoolScript} from "./support/HostilePools.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {Accomplice, CallsAround, SendsAnother} from "./support/PoolScripts.sol";

interface IV2Swap {
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;
}

/// @title ForgedCallbacks
/// @notice Only the pool that a sweep has just called may call back, with the selector of its venue. Every other call of
/// an unknown function is refused, between sweeps and in the middle of one.
contract ForgedCallbacks is HostileTest {
    uint256 private constant PAYOUT = 0.5e18;

    function _unexpected(address caller, bytes4 selector) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.UnexpectedCallback.selector, caller, selector);
    }

    function _v3Callback(bytes memory data) private pure returns (bytes memory) {
        return abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", int256(1), int256(-1), data);
    }

    function _v2Callback(bytes memory data) private pure returns (bytes memory) {
        return abi.encodeWithSignature("uniswapV2Call(address,uint256,uint256,bytes)", address(1), 1, 0, data);
    }

    // ---------------------------------------------------------------- between sweeps

    function _expectRefused(address caller, bytes memory call) private {
        vm.prank(caller);
        (bool success, bytes memory answer) = address(v5).call(call);
        assertFalse(success);
        assertEq(answer, _unexpected(caller, bytes4(call))); // bytes that are missing are zero
    }

    /// @dev No input makes a function of another name than the contract's own do anything.
    function testFuzz_no_account_can_call_an_unknown_function(address caller, bytes4 selector, bytes memory data)
        public
    {
        bool isPool = uint32(selector) % 3 == 0;
        if (isPool) selector = _v3Venue().callback;
        vm.assume(!_isFunction(selector));
        _expectRefused(caller, abi.encodePacked(selector, data));
    }

    /// @dev Whether the contract has a function with this selector: then it does not answer that it is unexpected.
    function _isFunction(bytes4 selector) private returns (bool) {
        (bool success, bytes memory answer) = address(v5).call(abi.encodePacked(selector));
        return success || bytes4(answer) != ISweepBatch.UnexpectedCallback.selector;
    }

    function test_pools_of_listed_venues_cannot_call_back_between_sweeps() public {
        _send(_sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v2Leg(usdt, 1_000e6))), address(weth)));
        bytes memory stale = abi.encode(user, address(v5), type(uint256).max);
        address[2] memory pools = [_pool(V3, usdc, weth), _pool(V2, usdt, weth)];
        for (uint256 i = 0; i < pools.length; ++i) {
            _expectRefused(pools[i], _v3Callback(stale));
            _expectRefused(pools[i], _v2Callback(stale));
            _expectRefused(pools[i], hex"00");
        }
    }

    /// @dev A real pair calls back whom it is told to, so anyone can have it call this contract.
    function test_a_real_pair_that_a_stranger_sends_to_this_contract_is_refused() public {
        address pair = _pool(V2, usdc, weth);
        (uint256 out0, uint256 out1) = address(usdc) < address(weth) ? (uint256(0), uint256(1)) : (uint256(1), 0);
        vm.expectRevert(_unexpected(pair, _v2Venue().callback));
        IV2Swap(pair).swap(out0, out1, address(v5), abi.encode(user));
    }

    // ---------------------------------------------------------------- in a sweep, by swept tokens

    /// @dev The token is transferred in the innermost callback, when no pool is awaited any more.
    function test_a_token_cannot_pass_for_a_pool() public {
        CallbackToken token = new CallbackToken();
        _addPools(token, 2_000_000e18);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(token, 1_000e18), _v2Leg(usdc, 1_000e6))), address(weth));
        token.arm(address(v5), _v3Callback(abi.encode(s.route)));
        _send(s);
        assertFalse(token.succeeded());
        assertEq(token.response(), _unexpected(address(token), _v3Venue().callback));
    }

    // ---------------------------------------------------------------- in a sweep, by other pools

    /// @dev Its address is computed like that of a pool, but by another deployer, or of a venue that was removed.
    function test_a_pool_of_an_unlisted_or_removed_venue_cannot_call_back_in_a_sweep() public {
        HostilePool unlisted = new HostileFactory().createPool(usdc, weth, POOL_FEE);
        _expectRefusedInSweep(unlisted);
        v5.removeVenue(HOSTILE_V2);
        _expectRefusedInSweep(_hostileV2Pool(usdc, weth, address(new Accomplice()), 0));
    }

    /// @dev Two pools of the sweep itself: the one is not awaited while the other is, earlier or later.
    function test_pools_of_the_sweep_cannot_call_back_out_of_turn() public {
        HostilePool first = _hostilePool(dai, weth, address(new Accomplice()), PAYOUT);
        HostilePool last = _hostilePool(usdc, weth, address(new Accomplice()), PAYOUT);
        ISweepBatch.Leg memory middle = _v3Leg(usdt, 1_000e6);
        Sweep memory s =
            _sweep(_route(_legs(_hostileLeg(dai, 1_000e18), middle, _hostileLeg(usdc, 1_000e6))), address(weth));
        uint256 fair = _fairOutput(s);

        uint256 snapshot = vm.snapshotState();
        first.configure(address(new SendsAnother(last)), dai, weth, PAYOUT); // before its turn
        _send(s);
        assertEq(last.response(0), _unexpected(address(last), _v3Venue().callback));
        assertEq(weth.balanceOf(user), fair);
        assertTrue(vm.revertToState(snapshot));

        last.configure(address(new SendsAnother(first)), usdc, weth, PAYOUT); // a second time
        _send(s);
        assertEq(first.responseCount(), 2);
        assertEq(first.response(0), _unexpected(address(first), _v3Venue().callback)); // while its own callback runs
        assertEq(weth.balanceOf(user), fair);
    }

    /// @dev A pool of the sweep has the unlisted one call back with exactly the data that it was given itself.
    function _expectRefusedInSweep(HostilePool other) private {
        uint256 snapshot = vm.snapshotState();
        other.configure(address(new Accomplice()), usdc, weth, 0);
        HostilePool pool = _hostilePool(dai, weth, address(new SendsAnother(other)), PAYOUT);
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, 1_000e18), _v3Leg(usdt, 1_000e6))), address(weth));
        uint256 fair = _fairOutputWith(s, pool);
        _send(s);
        assertEq(other.response(0), _unexpected(address(other), _v3Venue().callback));
        assertEq(weth.balanceOf(user), fair);
        assertTrue(vm.revertToState(snapshot));
    }

    function _fairOutputWith(Sweep memory s, HostilePool pool) private returns (uint256 output) {
        uint256 snapshot = vm.snapshotState();
        pool.configure(address(new PoolScript()), dai, weth, PAYOUT);
        output = _fairOutput(s);
        assertTrue(vm.revertToState(snapshot));
    }

    /// @dev The pair of a later leg is sent to this contract while the hostile pool is awaited, and again after its turn.
    function test_a_pool_cannot_send_the_pair_of_another_leg_to_this_contract() public {
        address pair = _pool(V2, usdt, weth);
        CallsAround script = new CallsAround();
        (uint256 out0, uint256 out1) = address(usdt) < address(weth) ? (uint256(0), uint256(1)) : (uint256(1), 0);
        bytes memory call = abi.encodeCall(IV2Swap.swap, (out0, out1, address(v5), abi.encode(user)));
        script.addBefore(pair, call);
        script.addBehind(pair, call);
        HostilePool pool = _hostilePool(dai, weth, address(script), PAYOUT);
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, 1_000e18), _v2Leg(usdt, 1_000e6))), address(weth));
        uint256 fair = _fairOutputWith(s, pool);
        _send(s);
        assertEq(pool.responseCount(), 3);
        assertEq(pool.response(0), _unexpected(pair, _v2Venue().callback));
        assertEq(pool.response(2), _unexpected(pair, _v2Venue().callback));
        assertEq(weth.balanceOf(user), fair);
    }

    /// @dev The pool that is awaited, but with the selector of the other kind or of no kind.
    function test_the_awaited_pool_must_call_back_by_the_name_of_its_venue() public {
        CallsAround script = new CallsAround();
        script.addBefore(address(v5), _v2Callback(""));
        script.addBefore(address(v5), abi.encodeWithSignature("pancakeV3SwapCallback(int256,int256,bytes)", 1, -1, ""));
        script.addBefore(address(v5), hex"00");
        HostilePool pool = _hostilePool(dai, weth, address(script), PAYOUT);
        _send(_sweep(_route(_legs(_hostileLeg(dai, 1_000e18))), address(weth)));
        assertEq(pool.response(0), _unexpected(address(pool), _v2Venue().callback));
        bytes4 pancake = bytes4(keccak256("pancakeV3SwapCallback(int256,int256,bytes)"));
        assertEq(pool.response(1), _unexpected(address(pool), pancake));
        assertEq(pool.response(2), _unexpected(address(pool), 0));
    }

    /// @dev A callback of the right name before the real one, cut short or empty.
    function test_the_awaited_pool_must_call_back_with_data() public {
        CallsAround script = new CallsAround();
        script.addBefore(address(v5), abi.encodePacked(_v3Venue().callback));
        script.addBefore(address(v5), _v3Callback(""));
        HostilePool pool = _hostilePool(dai, weth, address(script), PAYOUT);
        _send(_sweep(_route(_legs(_hostileLeg(dai, 1_000e18))), address(weth)));
        bytes memory changed = abi.encodeWithSelector(ISweepBatch.CallbackDataChanged.selector, address(pool));
        assertEq(pool.response(0), changed);
        assertEq(pool.response(1), changed);
    }
}
