// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostilePool} from "./support/HostilePools.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {CallsAround, CallsBackLate} from "./support/PoolScripts.sol";
import {IUniswapV2Pair} from "./support/Uniswap.sol";

/// @title UnusualPools
/// @notice Pools in two roles, or called back in another frame than their own.
contract UnusualPools is HostileTest {
    /// @dev A pair is also a token, the share of its liquidity. Both legs bring what each would bring alone.
    function test_a_pair_can_swap_one_leg_and_be_the_token_of_another() public {
        IERC20 share = IERC20(_pool(V2, dai));
        uint256 amount = share.balanceOf(address(this)) / 100;
        _addPairOfShares(share, 50 * amount);
        assertTrue(share.transfer(user, amount));
        vm.prank(user);
        share.approve(PERMIT2, type(uint256).max);
        Sweep memory shares = _usdcSweep();
        (shares.route.legs[0].token, shares.route.legs[0].amount) = (address(share), amount);
        shares.route.legs[0].hop = _hop(V2, 0);
        _sign(shares);
        Sweep memory daiAlone = _sweep(_route(_legs(_v2Leg(dai, 1_000e18))), address(weth));
        uint256 fair = _fairOutput(shares) + _fairOutput(daiAlone);

        ISweepBatch.Leg memory a = shares.route.legs[0];
        ISweepBatch.Leg memory b = daiAlone.route.legs[0];
        for (uint256 i = 0; i < 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            _send(_sweep(_route(i == 0 ? _legs(a, b) : _legs(b, a)), address(weth)));
            assertApproxEqAbs(weth.balanceOf(user), fair, 1); // the fee rounds down once instead of twice
            assertEq(share.balanceOf(user), 0);
            assertEq(dai.balanceOf(user), 0);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    function _addPairOfShares(IERC20 share, uint256 amount) private {
        address pair = v2Factory.createPair(address(share), address(weth));
        assertTrue(share.transfer(pair, amount));
        _fund(address(weth), pair, 100e18);
        IUniswapV2Pair(pair).mint(address(this));
    }

    /// @dev The second pool returns without a callback, and the first one has it call back after that. It is still the
    /// awaited pool, so what is behind it runs then: at the same prices, and for the same amounts.
    function test_pools_that_call_back_late_take_and_change_nothing_more() public {
        CallsAround first = new CallsAround();
        HostilePool daiPool = _hostilePool(dai, weth, address(first), 0.5e18);
        HostilePool usdcPool = _hostilePool(usdc, weth, address(new CallsBackLate()), 0.5e18);
        Sweep memory s = _sweep(
            _route(_legs(_hostileLeg(dai, 1_000e18), _hostileLeg(usdc, 1_000e6), _v3Leg(usdt, 1_000e6))), address(weth)
        );
        first.addBehind(address(usdcPool), abi.encodeCall(CallsBackLate.resume, ()));
        first.addBehind(address(usdcPool), abi.encodeCall(CallsBackLate.resume, ())); // and once more
        Sweep memory usdtAlone = _sweep(_route(_legs(s.route.legs[2])), address(weth));
        uint256 gross = 1e18 + _grossOf(usdtAlone);
        _send(s);
        assertEq(daiPool.response(1), "");
        assertEq(bytes4(daiPool.response(2)), ISweepBatch.UnexpectedCallback.selector);
        assertEq(weth.balanceOf(user), gross - gross * 75 / 10_000);
        assertEq(dai.balanceOf(address(daiPool)), 1_000e18);
        assertEq(usdc.balanceOf(address(usdcPool)), 1_000e6);
        assertEq(usdt.balanceOf(user), 0);
        assertEq(weth.balanceOf(address(v5)), 0);
    }

    function _grossOf(Sweep memory s) private returns (uint256) {
        s.authorization.totalFeeBps = 0;
        _sign(s);
        return _fairOutput(s);
    }
}
