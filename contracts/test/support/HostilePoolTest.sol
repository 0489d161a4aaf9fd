// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {HostilePool, PoolScript} from "./HostilePools.sol";
import {HostileTest} from "./HostileTest.sol";

/// @title HostilePoolTest
/// @notice A sweep in which one pool of a listed venue is hostile, between two honest ones.
abstract contract HostilePoolTest is HostileTest {
    uint256 internal constant AMOUNT = 1_000e18;
    uint256 internal constant PAYOUT = 0.5e18;

    HostilePool internal pool;

    function setUp() public virtual override {
        super.setUp();
        pool = _hostilePool(dai, weth, address(new PoolScript()), PAYOUT);
    }

    function _configure(PoolScript script) internal {
        pool.configure(address(script), dai, weth, PAYOUT);
    }

    /// @dev An honest leg before and after the hostile one.
    function _between() internal returns (Sweep memory) {
        return
            _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _hostileLeg(dai, AMOUNT), _v2Leg(usdt, 1_000e6))), address(weth));
    }

    /// @dev As `_between`; the hostile leg may be left out.
    function _betweenSkippable() internal returns (Sweep memory s) {
        s = _between();
        s.route.legs[1].hop |= SKIPPABLE;
        s.route.maxSkipped = 1;
        _sign(s);
    }

    function _expectNothingMoved(Sweep memory s) internal view {
        assertEq(usdc.balanceOf(user), s.route.legs[0].amount);
        assertEq(dai.balanceOf(user), AMOUNT);
        assertEq(usdt.balanceOf(user), s.route.legs[2].amount);
        assertEq(weth.balanceOf(user), 0);
        assertFalse(v5.isNonceUsed(s.authorization.nonce));
    }
}
