// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {IPositionManager, ISwapRouter02} from "./support/Uniswap.sol";

/// @title ThinPoolGriefing
/// @notice A trader that empties a thin V3 pool before a sweep. If it can take nothing more, the leg is left out where the
/// user allowed it, for an amount of gas that the leg's price limit bounds. If it has nothing left to take from, the leg
/// gets a better price for more gas, and in the finest ticks the sweep reverts.
contract ThinPoolGriefing is HostileTest {
    uint256 private constant AMOUNT = 0.01e18;
    uint256 private constant DEPTH = 0.5e18;
    uint256 private constant TRANSACTION_CAP = 16_777_216; // EIP-7825

    IERC20 private thin;

    /// @dev A pool at par, with liquidity only within a spacing of ticks on both sides of that price.
    function _addPool(uint24 fee, int24 spacing) private {
        thin = _token("THIN", 18);
        (address token0, address token1) = (address(thin), address(weth));
        if (token0 > token1) (token0, token1) = (token1, token0);
        positions.createAndInitializePoolIfNecessary(token0, token1, fee, 1 << 96);
        _fund(token0, address(this), DEPTH);
        _fund(token1, address(this), DEPTH);
        IERC20(token0).approve(address(positions), DEPTH);
        IERC20(token1).approve(address(positions), DEPTH);
        positions.mint(
            IPositionManager.MintParams(
                token0, token1, fee, -spacing, spacing, DEPTH, DEPTH, 0, 0, address(this), block.timestamp
            )
        );
    }

    /// @dev Sells more than the pool can take, until its price is at the limit.
    function _sellOut(uint24 fee, uint160 limit) private {
        uint256 amount = 2 * DEPTH;
        _fund(address(thin), address(this), amount);
        thin.approve(address(router), amount);
        router.exactInputSingle(
            ISwapRouter02.ExactInputSingleParams(address(thin), address(weth), fee, address(this), amount, 0, limit)
        );
    }

    /// @dev The thin leg between two others, with a price limit of a quarter of par.
    function _skippableSweep(uint24 fee) private returns (Sweep memory s) {
        ISweepBatch.Leg memory leg = _skippable(_leg(thin, AMOUNT, _hop(V3, fee)));
        (leg.floor, leg.hop) = (0.0095e18, leg.hop | _priceLimit(1, _sellsDown() ? 95 : 97));
        s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), leg, _v2Leg(usdt, 1_000e6))), address(weth));
        s.route.maxSkipped = 1;
        _sign(s);
    }

    function _sellsDown() private view returns (bool) {
        return address(thin) < address(weth);
    }

    /// @dev Just past the last liquidity: a swap walks through the words of empty ticks from here to its limit.
    function _justEmptied() private view returns (uint160) {
        return uint160((1 << 96) * uint256(_sellsDown() ? 98 : 102) / 100);
    }

    function test_a_v3_pool_whose_price_was_pushed_to_the_end_is_left_out() public {
        _addPool(POOL_FEE, 60);
        Sweep memory s = _skippableSweep(POOL_FEE);
        _fairOutput(s); // it is swept if no one trades
        _sellOut(POOL_FEE, 0);
        _sendSkipping(s, 1, ISweepBatch.SkipReason.NotFilled);
        assertEq(thin.balanceOf(user), AMOUNT);
    }

    function test_a_v3_pool_at_the_end_is_left_out_without_a_limit_of_the_leg() public {
        _addPool(POOL_FEE, 60);
        Sweep memory s = _skippableSweep(POOL_FEE);
        s.route.legs[1].hop = _hop(V3, POOL_FEE) | SKIPPABLE;
        _sign(s);
        _sellOut(POOL_FEE, 0);
        _sendSkipping(s, 1, ISweepBatch.SkipReason.NotFilled);
    }

    function test_a_v3_pool_at_the_end_reverts_the_sweep_of_a_leg_that_must_run() public {
        _addPool(POOL_FEE, 60);
        Sweep memory s = _skippableSweep(POOL_FEE);
        (s.route.legs[1].hop, s.route.maxSkipped) = (s.route.legs[1].hop ^ SKIPPABLE, 0);
        _sign(s);
        _sellOut(POOL_FEE, 0);
        _expectRevert(s, _legFailed(1, v5.poolAddress(V3, address(thin), address(weth), POOL_FEE), _text("SPL")));
    }

    function test_leaving_out_an_emptied_v3_pool_costs_little_gas_in_every_fee_tier() public {
        (bool enabled,) = router.factory().call(abi.encodeWithSignature("enableFeeAmount(uint24,int24)", 100, 1));
        assertTrue(enabled);
        _expectLeftOutFor(100, 1, 600_000); // 54 words of 256 ticks
        _expectLeftOutFor(500, 10, 150_000); // 6
        _expectLeftOutFor(POOL_FEE, 60, 100_000);
        _expectLeftOutFor(10_000, 200, 100_000);
    }

    /// @dev The other way: a trader buys all that the pool has, and a sweep walks back from the end of all prices.
    function test_a_v3_pool_that_was_bought_out_costs_the_walk_back_or_reverts_the_sweep() public {
        (bool enabled,) = router.factory().call(abi.encodeWithSignature("enableFeeAmount(uint24,int24)", 100, 1));
        assertTrue(enabled);
        _expectWalkBackOf(10_000, 200, 150_000);
        _expectWalkBackOf(POOL_FEE, 60, 350_000);
        _expectWalkBackOf(500, 10, 1_900_000);
        _addPool(100, 1);
        Sweep memory s = _skippableSweep(100);
        _buyOut(100);
        assertFalse(_succeedsWithin(s, TRANSACTION_CAP));
        assertEq(thin.balanceOf(user), AMOUNT);
        assertFalse(v5.isNonceUsed(s.authorization.nonce));
        s.route.legs[1].hop = DROPPED; // another offer under the same signature of the user
        _signRoute(s);
        assertTrue(_succeedsWithin(s, TRANSACTION_CAP));
    }

    function _expectWalkBackOf(uint24 fee, int24 spacing, uint256 mostGas) private {
        uint256 snapshot = vm.snapshotState();
        _addPool(fee, spacing);
        Sweep memory s = _skippableSweep(fee);
        uint256 fair = _gasOf(s, TRANSACTION_CAP);
        _buyOut(fee);
        assertLt(_gasOf(s, TRANSACTION_CAP), fair + mostGas);
        assertTrue(vm.revertToState(snapshot));
    }

    function _buyOut(uint24 fee) private {
        _fund(address(weth), address(this), 2 * DEPTH);
        weth.approve(address(router), 2 * DEPTH);
        router.exactInputSingle(
            ISwapRouter02.ExactInputSingleParams(address(weth), address(thin), fee, address(this), 2 * DEPTH, 0, 0)
        );
    }

    function _succeedsWithin(Sweep memory s, uint256 limit) private returns (bool succeeded) {
        bytes memory data = _dataOf(s);
        vm.prank(user);
        (succeeded,) = address(v5).call{gas: limit}(data);
    }

    function _expectLeftOutFor(uint24 fee, int24 spacing, uint256 mostGas) private {
        uint256 snapshot = vm.snapshotState();
        _addPool(fee, spacing);
        Sweep memory s = _skippableSweep(fee);
        uint256 fair = _gasOf(s, TRANSACTION_CAP);
        _sellOut(fee, _justEmptied());
        assertLt(_gasOf(s, TRANSACTION_CAP), fair + mostGas);
        _sendSkipping(s, 1, ISweepBatch.SkipReason.NotFilled);
        assertTrue(vm.revertToState(snapshot));
    }

    function _gasOf(Sweep memory s, uint256 limit) private returns (uint256 used) {
        uint256 snapshot = vm.snapshotState();
        used = gasleft();
        assertTrue(_succeedsWithin(s, limit));
        used -= gasleft();
        assertTrue(vm.revertToState(snapshot));
    }
}
