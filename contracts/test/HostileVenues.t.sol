// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostilePool, PoolScript} from "./support/HostilePools.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {CallsAround, RecordsData, ReplaysData, ResizesData, RewritesData} from "./support/PoolScripts.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title HostileVenues
/// @notice What a listed venue can do if its pools turn hostile: nothing to what travels through them, and to the legs
/// behind them no more than anyone can do to a price, down to their floors. A sketch of this contract took the sender
/// from the callback's data: there, a pool that rewrote it took a stranger's tokens.
contract HostileVenues is HostileTest {
    uint256 private constant AMOUNT = 1_000e18;
    uint256 private constant PAYOUT = 0.5e18;
    uint256 private constant OWNER_AT = 0x20;
    uint256 private constant FIRST_LEG_AT = 0x80;
    uint256 private constant LEG_SIZE = 0x60;

    HostilePool private pool;
    address private stranger = makeAddr("stranger");

    function setUp() public override {
        super.setUp();
        pool = _hostilePool(dai, weth, address(new PoolScript()), PAYOUT);
        _give(stranger, address(dai), 5_000e18); // and its approval of Permit2
        _give(stranger, address(usdc), 5_000e6);
        vm.startPrank(stranger);
        dai.approve(address(v5), type(uint256).max); // also for accounts that batch their calls
        usdc.approve(address(v5), type(uint256).max);
        vm.stopPrank();
    }

    function _configure(PoolScript script) private {
        pool.configure(address(script), dai, weth, PAYOUT);
    }

    function _hostileFirst() private returns (Sweep memory) {
        return _sweep(_route(_legs(_hostileLeg(dai, AMOUNT), _v3Leg(usdc, 1_000e6))), address(weth));
    }

    function _changed(address by) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.CallbackDataChanged.selector, by);
    }

    function _sendAsCaller(Sweep memory s) private {
        vm.prank(s.sender);
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
    }

    // ---------------------------------------------------------------- rewritten data

    /// @dev What the pool is given to hand to its callback.
    function _dataOfPool(Sweep memory s) private returns (bytes memory data) {
        uint256 snapshot = vm.snapshotState();
        _configure(new RecordsData());
        _send(s);
        data = pool.response(0);
        assertTrue(vm.revertToState(snapshot));
    }

    /// @dev Where in the data a value of 128 bits or an address is, as the lower part of a word.
    function _find(bytes memory data, uint256 value) private pure returns (uint256 offset) {
        uint256 mask = value > type(uint128).max ? type(uint160).max : type(uint128).max;
        for (; offset < data.length; offset += 32) {
            uint256 word;
            assembly ("memory-safe") {
                word := mload(add(add(data, 0x20), offset))
            }
            if (word & mask == value) return offset;
        }
        revert("not in the data");
    }

    /// @dev Every word of the data: sender, legs, amounts, receivers, nonce, deadline and signature.
    function test_a_pool_that_rewrites_any_word_of_its_callback_data_fails_its_leg() public {
        Sweep memory s = _hostileFirst();
        uint256 size = _dataOfPool(s).length;
        assertGt(size, 10 * 32);
        for (uint256 i = 0; i < size; i += 32) {
            _configure(new RewritesData(i, keccak256("rewritten"), false));
            _expectRevert(s, _legFailed(0, address(pool), _changed(address(pool))));
        }
    }

    function test_a_v2_pool_that_rewrites_its_callback_data_fails_its_leg() public {
        uint256 ownerAt = _find(_dataOfPool(_hostileFirst()), uint160(user));
        RewritesData script = new RewritesData(ownerAt, bytes32(uint256(uint160(stranger))), false);
        HostilePool v2Pool = _hostileV2Pool(dai, weth, address(script), PAYOUT);
        Sweep memory s = _sweep(_route(_legs(_hostileV2Leg(dai, AMOUNT), _v3Leg(usdc, 1_000e6))), address(weth));
        _expectRevert(s, _legFailed(0, address(v2Pool), _changed(address(v2Pool))));
    }

    function test_a_pool_that_shortens_or_lengthens_its_callback_data_fails_its_leg() public {
        Sweep memory s = _hostileFirst();
        uint256 size = _dataOfPool(s).length;
        uint256[5] memory lengths = [0, 31, size - 32, size - 1, size + 1];
        for (uint256 i = 0; i < lengths.length; ++i) {
            _configure(new ResizesData(lengths[i]));
            _expectRevert(s, _legFailed(0, address(pool), _changed(address(pool))));
        }
    }

    /// @dev The attack on the sketch. A stranger's approvals are of use to a stranger's own sweeps only.
    function test_a_pool_cannot_have_a_stranger_pay() public {
        Sweep memory s = _hostileFirst();
        uint256 ownerAt = _find(_dataOfPool(s), uint160(user));
        _configure(new RewritesData(ownerAt, bytes32(uint256(uint160(stranger))), false));
        _expectRevert(s, _legFailed(0, address(pool), _changed(address(pool))));
        vm.startPrank(user);
        dai.approve(address(v5), type(uint256).max);
        usdc.approve(address(v5), type(uint256).max);
        vm.expectRevert(_legFailed(0, address(pool), _changed(address(pool))));
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
        vm.stopPrank();
        assertEq(dai.balanceOf(stranger), 5_000e18);
        assertEq(usdc.balanceOf(stranger), 5_000e6);
    }

    /// @dev It changes nothing if the pool then gives up and calls back as it should.
    function test_a_pool_that_is_refused_and_goes_on_changes_nothing() public {
        Sweep memory s = _hostileFirst();
        uint256 fair = _fairOutput(s);
        bytes memory data = _dataOfPool(s);
        uint256[4] memory offsets = [
            _find(data, uint160(user)),
            _find(data, uint160(address(usdc))),
            _find(data, AMOUNT),
            _find(data, uint160(_pool(V3, usdc, weth)))
        ];
        for (uint256 i = 0; i < offsets.length; ++i) {
            uint256 snapshot = vm.snapshotState();
            _configure(new RewritesData(offsets[i], bytes32(uint256(uint160(stranger))), true));
            _send(s);
            assertEq(pool.response(0), _changed(address(pool)));
            assertEq(weth.balanceOf(user), fair);
            assertEq(dai.balanceOf(address(pool)), AMOUNT);
            assertEq(dai.balanceOf(stranger), 5_000e18);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    /// @dev The first sweep is a stranger's, and what it left in the pool is still signed by the stranger.
    function test_a_pool_cannot_replay_the_data_of_an_earlier_sweep() public {
        _configure(new ReplaysData());
        Sweep memory s = _hostileFirst();
        (user, userKey) = makeAddrAndKey("another user");
        Sweep memory later = _hostileFirst();
        (later.authorization.user, later.authorization.nonce) = (user, 8);
        _sign(later);
        _send(s);
        _fund(address(weth), address(pool), PAYOUT);
        _expectRevert(later, _legFailed(0, address(pool), _changed(address(pool))));
    }

    function test_two_cooperating_pools_cannot_exchange_anything_that_is_accepted() public {
        HostilePool second = _hostilePool(usdc, weth, address(new PoolScript()), PAYOUT);
        Sweep memory s = _sweep(
            _route(_legs(_hostileLeg(dai, AMOUNT), _v3Leg(usdt, 1_000e6), _hostileLeg(usdc, 1_000e6))), address(weth)
        );
        uint256 fair = _fairOutput(s);
        // They rewrite the receiver of the first one's token, to be paid twice, and the amount of the second one's leg.
        bytes memory data = _dataOfPool(s);
        uint256[2] memory offsets = [_find(data, uint160(address(pool))), _find(data, 1_000e6)];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            bytes32 word = bytes32(uint256(uint160(address(second))));
            second.configure(address(new RewritesData(offsets[i], word, true)), usdc, weth, PAYOUT);
            _configure(new RewritesData(offsets[i], word, true));
            _send(s);
            assertEq(second.response(0), _changed(address(second)));
            assertEq(weth.balanceOf(user), fair);
            assertEq(dai.balanceOf(address(pool)), AMOUNT);
            assertEq(usdc.balanceOf(address(second)), 1_000e6);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    // ---------------------------------------------------------------- prices of the other legs

    /// @dev A pool that sells `amount` through the router before its callback, in the pool of the leg behind it.
    function _pusher(uint256 amount) private returns (CallsAround script) {
        script = new CallsAround();
        script.addBefore(address(usdc), abi.encodeCall(IERC20.approve, (address(router), type(uint256).max)));
        ISwapRouter02.ExactInputSingleParams memory push =
            ISwapRouter02.ExactInputSingleParams(address(usdc), address(weth), POOL_FEE, address(pool), amount, 0, 0);
        script.addBefore(address(router), abi.encodeCall(ISwapRouter02.exactInputSingle, (push)));
    }

    function test_a_pool_can_push_a_later_price_to_its_floor_and_no_further() public {
        Sweep memory s = _hostileFirst();
        uint256 fair = _fairOutput(s);
        s.route.legs[1].floor = 0.49e18; // of 0.494 net
        _sign(s);

        uint256 snapshot = vm.snapshotState();
        _fund(address(usdc), address(pool), 4_000e6);
        _configure(_pusher(4_000e6));
        _send(s);
        assertGt(weth.balanceOf(user), 0.49e18 + PAYOUT * 9_925 / 10_000 - 1);
        assertLt(weth.balanceOf(user), fair);
        assertTrue(vm.revertToState(snapshot));

        _fund(address(usdc), address(pool), 40_000e6);
        _configure(_pusher(40_000e6));
        vm.expectPartialRevert(ISweepBatch.LegFailed.selector);
        _send(s);

        (s.route.legs[1].hop, s.route.maxSkipped) = (s.route.legs[1].hop | SKIPPABLE, 1);
        _sign(s);
        _sendSkipping(s, 1, ISweepBatch.SkipReason.BelowLeast);
        assertEq(usdc.balanceOf(user), 1_000e6);
        assertEq(weth.balanceOf(user), PAYOUT - PAYOUT * 75 / 10_000);
    }

    /// @dev The legs before it have their price, and their pools are locked.
    function test_a_pool_cannot_move_the_price_of_a_leg_before_it() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _hostileLeg(dai, AMOUNT))), address(weth));
        uint256 fair = _fairOutput(s);
        _fund(address(usdc), address(pool), 40_000e6);
        _configure(_pusher(40_000e6));
        _send(s);
        assertEq(pool.response(1), _text("LOK"));
        assertEq(weth.balanceOf(user), fair);
    }
}
