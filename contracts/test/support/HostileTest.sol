// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Vm} from "forge-std/Vm.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../../src/interfaces/IVenueList.sol";
import {HostileFactory, HostilePool} from "./HostilePools.sol";
import {SweepV4Test} from "./SweepV4Test.sol";
import {IPositionManager} from "./Uniswap.sol";

interface IRouterState {
    function positionManager() external view returns (IPositionManager);
}

/// @title HostileTest
/// @notice Adds a listed venue whose pools are hostile, and what tests of attacks compare: what a sweep brings that
/// no one attacks.
abstract contract HostileTest is SweepV4Test {
    uint16 internal constant HOSTILE_V3 = 9;
    uint16 internal constant HOSTILE_V2 = 10;
    uint24 internal constant HOSTILE_V2_FEE = 1; // in the salt only, so that both kinds of a pair have a pool

    HostileFactory internal hostileFactory;

    function setUp() public virtual override {
        super.setUp();
        hostileFactory = new HostileFactory();
        IVenueList.Venue memory venue = _v3Venue();
        (venue.deployer, venue.initCodeHash) = (address(hostileFactory), keccak256(type(HostilePool).creationCode));
        _listHostile(venue);
    }

    function _listHostile(IVenueList.Venue memory venue) private {
        v5.listVenue(HOSTILE_V3, venue);
        v4.listVenue(HOSTILE_V3, venue);
        (venue.kind, venue.callback) = (IVenueList.PoolKind.V2, _v2Venue().callback);
        v5.listVenue(HOSTILE_V2, venue);
        v4.listVenue(HOSTILE_V2, venue);
    }

    /// @dev A pool of the hostile venue that can pay `payout` once.
    function _hostilePool(IERC20 tokenIn, IERC20 tokenOut, address script, uint256 payout)
        internal
        returns (HostilePool pool)
    {
        pool = hostileFactory.createPool(tokenIn, tokenOut, POOL_FEE);
        pool.configure(script, tokenIn, tokenOut, payout);
        _fund(address(tokenOut), address(pool), payout);
    }

    function _hostileV2Pool(IERC20 tokenIn, IERC20 tokenOut, address script, uint256 payout)
        internal
        returns (HostilePool pool)
    {
        pool = hostileFactory.createPool(tokenIn, tokenOut, HOSTILE_V2_FEE);
        pool.configure(script, tokenIn, tokenOut, payout);
        _fund(address(tokenOut), address(pool), payout);
    }

    /// @dev A V3 pool at a price of one, with liquidity within 0.6 % of it only.
    function _thinV3Pool(IERC20 token, uint256 amount) internal {
        IPositionManager positions = IRouterState(address(router)).positionManager();
        (address token0, address token1) =
            address(token) < address(weth) ? (address(token), address(weth)) : (address(weth), address(token));
        positions.createAndInitializePoolIfNecessary(token0, token1, POOL_FEE, 1 << 96);
        _fund(address(token), address(this), amount);
        _fund(address(weth), address(this), amount);
        token.approve(address(positions), amount);
        weth.approve(address(positions), amount);
        positions.mint(
            IPositionManager.MintParams(
                token0, token1, POOL_FEE, -60, 60, amount, amount, 0, 0, address(this), block.timestamp
            )
        );
    }

    function _hostileLeg(IERC20 token, uint256 amount) internal returns (ISweepBatch.Leg memory) {
        return _leg(token, amount, _hop(HOSTILE_V3, POOL_FEE));
    }

    function _hostileV2Leg(IERC20 token, uint256 amount) internal returns (ISweepBatch.Leg memory) {
        return _leg(token, amount, _hop(HOSTILE_V2, HOSTILE_V2_FEE));
    }

    function _skippable(ISweepBatch.Leg memory leg) internal pure returns (ISweepBatch.Leg memory) {
        leg.hop |= SKIPPABLE;
        return leg;
    }

    /// @dev What the sweep would pay the user, undone.
    function _fairOutput(Sweep memory s) internal returns (uint256 output) {
        uint256 snapshot = vm.snapshotState();
        IERC20 token = IERC20(s.authorization.outputToken);
        uint256 before = token.balanceOf(s.sender);
        _send(s);
        output = token.balanceOf(s.sender) - before;
        assertTrue(vm.revertToState(snapshot));
    }

    /// @dev Sends the sweep and expects that it leaves out exactly these legs.
    function _sendSkipping(Sweep memory s, uint256 leg, ISweepBatch.SkipReason reason) internal {
        vm.recordLogs();
        _send(s);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        uint256 found = 0;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != ISweepBatch.LegSkipped.selector) continue;
            ++found;
            assertEq(logs[i].data, abi.encode(leg, s.route.legs[leg].token, reason));
        }
        assertEq(found, 1, "legs left out");
    }

    /// @dev For messages of pairs, whose old compiler leaves whatever was in memory behind a text.
    function _expectFailedLeg(Sweep memory s, uint256 leg, address target, string memory text) internal {
        vm.prank(s.sender);
        (bool success, bytes memory answer) = address(v5).call(_dataOf(s));
        assertFalse(success);
        assertEq(bytes4(answer), ISweepBatch.LegFailed.selector);
        (uint256 failedLeg, address failedTarget, bytes memory reason) =
            abi.decode(_arguments(answer), (uint256, address, bytes));
        assertEq(failedLeg, leg);
        assertEq(failedTarget, target);
        assertEq(bytes4(reason), bytes4(_text("")));
        assertEq(abi.decode(_arguments(reason), (string)), text);
    }

    /// @dev What follows the selector.
    function _arguments(bytes memory encoded) internal pure returns (bytes memory arguments) {
        arguments = new bytes(encoded.length - 4);
        for (uint256 i = 0; i < arguments.length; ++i) {
            arguments[i] = encoded[i + 4];
        }
    }

    function _pool(uint16 venue, IERC20 tokenA, IERC20 tokenB) internal view returns (address) {
        uint24 fee = venue == V2 ? 0 : POOL_FEE;
        if (venue == HOSTILE_V2) fee = HOSTILE_V2_FEE;
        return v5.poolAddress(venue, address(tokenA), address(tokenB), fee);
    }
}
