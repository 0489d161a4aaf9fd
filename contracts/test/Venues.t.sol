// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../src/interfaces/IVenueList.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Venues
/// @notice The list of venues: what can be listed and removed, how a pool's address follows from a venue, and what a
/// venue that is listed wrongly leads to. Roles.t.sol says who may change the list.
contract Venues is SweepTest {
    uint16 private constant NEW = 3;

    function _assertSame(IVenueList.Venue memory listed, IVenueList.Venue memory expected) private pure {
        assertEq(abi.encode(listed), abi.encode(expected));
    }

    // ---------------------------------------------------------------- listing and removing

    function test_the_whole_list_can_be_read() public {
        IVenueList.Venue memory venue = _v3Venue();
        venue.deployer = makeAddr("deployer");
        vm.expectEmit(address(v5));
        emit IVenueList.VenueListed(type(uint16).max, venue);
        v5.listVenue(type(uint16).max, venue);

        IVenueList.ListedVenue[] memory listed = v5.venues();
        assertEq(listed.length, 3);
        assertEq(listed[0].id, V3);
        _assertSame(listed[0].venue, _v3Venue());
        assertEq(listed[1].id, V2);
        _assertSame(listed[1].venue, _v2Venue());
        assertEq(listed[2].id, type(uint16).max);
        _assertSame(listed[2].venue, venue);
    }

    function test_removing_a_venue_delists_it_and_emits_an_event() public {
        vm.expectEmit(address(v5));
        emit IVenueList.VenueRemoved(V3);
        v5.removeVenue(V3);
        IVenueList.ListedVenue[] memory listed = v5.venues();
        assertEq(listed.length, 1);
        assertEq(listed[0].id, V2);
        _assertSame(listed[0].venue, _v2Venue());
    }

    function test_only_a_listed_venue_can_be_removed() public {
        v5.removeVenue(V3);
        uint16[3] memory unknown = [uint16(0), V3, NEW];
        for (uint256 i = 0; i < 3; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IVenueList.UnknownVenue.selector, unknown[i]));
            v5.removeVenue(unknown[i]);
        }
    }

    /// @dev What was signed for a venue must not be valid for another.
    function test_an_id_is_never_used_again() public {
        v5.removeVenue(V3);
        IVenueList.Venue memory venue = _v3Venue();
        uint16[3] memory used = [uint16(0), V3, V2];
        for (uint256 i = 0; i < 3; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IVenueList.VenueIdUsed.selector, used[i]));
            v5.listVenue(used[i], venue);
        }
    }

    function test_a_removed_venue_can_be_listed_under_a_new_id() public {
        v5.removeVenue(V3);
        v5.listVenue(NEW, _v3Venue());
        Sweep memory s = _usdcSweep();
        s.route.legs[0].hop = _hop(NEW, POOL_FEE);
        _sign(s);
        _send(s);
        assertGt(weth.balanceOf(user), 0.49e18);
    }

    function test_an_incomplete_or_contradictory_venue_cannot_be_listed() public {
        for (uint256 i = 0; i < 8; ++i) {
            IVenueList.Venue memory venue = i < 4 ? _v3Venue() : _v2Venue();
            if (i % 4 == 0) venue.deployer = address(0);
            if (i % 4 == 1) venue.callback = 0;
            if (i % 4 == 2) venue.initCodeHash = 0;
            if (i == 3) venue.feeBps = 1;
            if (i == 7) venue.feeBps = 10_000;
            _expectInvalid(venue);
        }
        IVenueList.Venue memory kindless = _v2Venue();
        kindless.kind = IVenueList.PoolKind.None;
        _expectInvalid(kindless);
        kindless.feeBps = 0;
        _expectInvalid(kindless);
    }

    function _expectInvalid(IVenueList.Venue memory venue) private {
        vm.expectRevert(abi.encodeWithSelector(IVenueList.InvalidVenue.selector, venue));
        v5.listVenue(NEW, venue);
    }

    function test_v2_venues_may_keep_any_fee_below_the_whole() public {
        IVenueList.Venue memory venue = _v2Venue();
        venue.feeBps = 0;
        v5.listVenue(NEW, venue);
        venue.feeBps = 9_999;
        v5.listVenue(NEW + 1, venue);
        assertEq(v5.venues().length, 4);
    }

    function test_an_unknown_kind_or_salt_rule_cannot_be_decoded() public {
        bytes memory call = abi.encodeCall(v5.listVenue, (NEW, _v2Venue()));
        for (uint256 field = 1; field <= 2; ++field) {
            bytes memory changed = bytes.concat(call);
            changed[4 + 32 + 32 * field + 31] = bytes1(uint8(3));
            (bool succeeded,) = address(v5).call(changed);
            assertFalse(succeeded);
        }
        (bool unchanged,) = address(v5).call(call);
        assertTrue(unchanged);
    }

    // ---------------------------------------------------------------- addresses of pools

    function test_a_pools_address_is_that_of_the_factory() public {
        address v3 = _addV3Pool(address(usdc), address(dai), 1e12, 1e24);
        address v2 = v2Factory.createPair(address(usdc), address(dai));
        for (uint256 i = 0; i < 2; ++i) {
            (IERC20 a, IERC20 b) = i == 0 ? (usdc, dai) : (dai, usdc);
            assertEq(v5.poolAddress(V3, address(a), address(b), POOL_FEE), v3);
            assertEq(v5.poolAddress(V2, address(a), address(b), 0), v2);
        }
    }

    /// @dev CREATE2 as EIP-1014 defines it, with a salt for each rule.
    function testFuzz_a_pools_address_follows_from_the_venue(
        address tokenA,
        address tokenB,
        uint24 fee,
        address deployer,
        bytes32 initCodeHash
    ) public {
        vm.assume(deployer != address(0) && initCodeHash != 0);
        (address low, address high) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        bytes32[3] memory salts = [
            keccak256(abi.encode(low, high, fee)),
            keccak256(abi.encode(low, high)),
            keccak256(abi.encodePacked(low, high))
        ];
        for (uint8 rule = 0; rule < 3; ++rule) {
            IVenueList.Venue memory venue = _v3Venue();
            (venue.deployer, venue.initCodeHash) = (deployer, initCodeHash);
            venue.saltRule = IVenueList.SaltRule(rule);
            v5.listVenue(NEW + rule, venue);
            bytes32 hash = keccak256(abi.encodePacked(bytes1(0xff), deployer, salts[rule], initCodeHash));
            _assertPool(NEW + rule, low, high, rule == 0 ? fee : 0, address(uint160(uint256(hash))));
        }
    }

    function _assertPool(uint16 id, address low, address high, uint24 fee, address pool) private view {
        assertEq(v5.poolAddress(id, low, high, fee), pool);
        assertEq(v5.poolAddress(id, high, low, fee), pool);
    }

    function test_only_pools_with_a_fee_in_their_address_may_be_named_with_one() public {
        IVenueList.Venue memory algebra = _v3Venue();
        algebra.saltRule = IVenueList.SaltRule.Pair;
        v5.listVenue(NEW, algebra);
        uint16[2] memory ids = [NEW, V2];
        for (uint256 i = 0; i < 2; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IVenueList.FeeNotExpected.selector, ids[i], 1));
            v5.poolAddress(ids[i], address(usdc), address(weth), 1);
        }
    }

    function test_an_unknown_venue_has_no_pools() public {
        v5.removeVenue(V2);
        uint16[3] memory unknown = [uint16(0), V2, NEW];
        for (uint256 i = 0; i < 3; ++i) {
            vm.expectRevert(abi.encodeWithSelector(IVenueList.UnknownVenue.selector, unknown[i]));
            v5.poolAddress(unknown[i], address(usdc), address(weth), 0);
        }
    }

    // ---------------------------------------------------------------- venues that are listed wrongly

    function test_a_callback_with_another_selector_than_the_venues_is_refused() public {
        bytes4 v3Callback = _v3Venue().callback;
        bytes4 v2Callback = _v2Venue().callback;
        IVenueList.Venue memory venue = _v3Venue();
        venue.callback = v2Callback;
        _expectLegFailed(venue, POOL_FEE, _unexpected(_pool(V3, usdc), v3Callback));
        venue = _v2Venue();
        venue.callback = v3Callback;
        _expectLegFailed(venue, 0, _unexpected(_pool(V2, usdc), v2Callback));
    }

    function _unexpected(address pool, bytes4 selector) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.UnexpectedCallback.selector, pool, selector);
    }

    function test_pools_of_another_kind_than_the_venues_fail() public {
        IVenueList.Venue memory venue = _v3Venue();
        venue.kind = IVenueList.PoolKind.V2;
        _expectLegFailed(venue, POOL_FEE, "");
        venue = _v2Venue();
        (venue.kind, venue.feeBps) = (IVenueList.PoolKind.V3, 0);
        _expectLegFailed(venue, 0, "");
    }

    function test_pairs_refuse_a_lower_fee_than_theirs() public {
        IVenueList.Venue memory venue = _v2Venue();
        venue.feeBps = 29;
        _expectLegFailed(venue, 0, _text("UniswapV2: K"));
    }

    function test_pairs_keep_a_higher_fee_than_theirs() public {
        IVenueList.Venue memory venue = _v2Venue();
        venue.feeBps = 5_000;
        v5.listVenue(NEW, venue);
        Sweep memory s = _sweep(_route(_legs(_leg(usdc, 1_000e6, _hop(NEW, 0)))), address(weth));
        _send(s);
        assertApproxEqRel(weth.balanceOf(user), 0.248e18, 0.01e18);
    }

    /// @dev Lists the venue and sweeps USDC in its pool with the wrapped native token.
    function _expectLegFailed(IVenueList.Venue memory venue, uint24 fee, bytes memory reason) private {
        uint256 snapshot = vm.snapshotState();
        v5.listVenue(NEW, venue);
        address pool = v5.poolAddress(NEW, address(usdc), address(weth), fee);
        Sweep memory s = _sweep(_route(_legs(_leg(usdc, 1_000e6, _hop(NEW, fee)))), address(weth));
        _expectRevert(s, _legFailed(0, pool, reason));
        s.route.legs[0].hop |= SKIPPABLE; // none of these is a verdict on a price
        s.route.maxSkipped = 1;
        _sign(s);
        _expectRevert(s, _legFailed(0, pool, reason));
        vm.revertToState(snapshot);
    }

    // ---------------------------------------------------------------- calls outside a sweep

    function test_no_callback_is_accepted_outside_a_sweep() public {
        address[3] memory callers = [_pool(V3, usdc), _pool(V2, usdc), makeAddr("stranger")];
        bytes4[3] memory selectors = [_v3Venue().callback, _v2Venue().callback, bytes4(0)];
        for (uint256 i = 0; i < 9; ++i) {
            (address caller, bytes4 selector) = (callers[i / 3], selectors[i % 3]);
            vm.prank(caller);
            (bool succeeded, bytes memory reason) =
                address(v5).call(abi.encodeWithSelector(selector, 1, 1, abi.encode(uint256(0))));
            assertFalse(succeeded);
            assertEq(reason, _unexpected(caller, selector));
        }
    }
}
