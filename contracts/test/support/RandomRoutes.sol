// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {HandlerWorld} from "./HandlerWorld.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title RandomRoutes
/// @notice Random routes for the invariant tests: pool legs straight to the output and joined ones, router legs, the
/// wrapped native token, dropped legs, and ways to break a route.
abstract contract RandomRoutes is HandlerWorld {
    uint256 internal constant ROUTE_CORRUPTIONS = 22;
    uint256 private constant MOST_LEGS = 4;
    uint24 private constant FEE_WITHOUT_POOL = 12_345;
    uint16 private constant VENUE_NEVER_LISTED = 999;

    uint256 private constant WETH_INDEX = 0; // in `tokens`
    uint256 private constant WATCHING_INDEX = 11; // the other such token is next to it

    uint256 private random;

    // ---------------------------------------------------------------- randomness

    function _seedRandom(uint256 seed, uint256 salt) internal {
        random = uint256(keccak256(abi.encode(seed, salt)));
    }

    function _pick(uint256 below) internal returns (uint256) {
        random = uint256(keccak256(abi.encode(random)));
        return random % below;
    }

    function _pickFrom(address[] storage list) internal returns (address) {
        return list[_pick(list.length)];
    }

    function _pickUser() internal returns (address) {
        return accounts[FIRST_USER + _pick(USERS)];
    }

    /// @dev Any account except the two contracts, users included.
    function _pickRecipient() internal returns (address) {
        return accounts[FIRST_USER + _pick(accounts.length - FIRST_USER)];
    }

    function _pickBatch() internal returns (ISweepBatch) {
        return _pick(2) == 0 ? ISweepBatch(v5) : ISweepBatch(v4);
    }

    /// @dev Up to a thousand whole tokens, or a few units if the token has many decimals.
    function _pickAmount(address token) private returns (uint256) {
        if (oneToken[token] > 1e5 && _pick(6) == 0) return 1 + _pick(1e7);
        return 1 + oneToken[token] * (1 + _pick(1e6)) / 1000;
    }

    // ---------------------------------------------------------------- routes

    function _settlementOf(address output) internal view returns (address) {
        return output == NATIVE ? address(weth) : output;
    }

    /// @dev One to four different tokens into one output, by ways that may be invalid, return nothing or be skipped.
    function _randomRoute(ISweepBatch batch, address output) internal returns (ISweepBatch.Route memory route) {
        route.legs = new ISweepBatch.Leg[](1 + _pick(MOST_LEGS));
        route.routerCalls = new ISweepBatch.RouterCall[](0);
        (uint256 first, uint256 stride) = _pickTokens(route.legs.length, _settlementOf(output));
        bool hasJoined = false;
        for (uint256 i = 0; i < route.legs.length; ++i) {
            address token = tokens[(first + i * stride) % tokens.length];
            route.legs[i] = _randomLeg(batch, route, i, token, output);
            if (route.legs[i].hop & JOINED != 0) hasJoined = true;
        }
        if (hasJoined) {
            address settlement = _settlementOf(output);
            Pool memory pool = _pickPool(address(weth), settlement);
            route.lastHop = _hopThrough(batch, pool);
            if (_isHostile(pool) && _pick(4) != 0) _removeFloors(route);
        }
        route.maxSkipped = _pick(3) == 0 ? _pick(route.legs.length + 1) : route.legs.length;
    }

    /// @dev Hostile pools pay next to nothing at best.
    function _removeFloors(ISweepBatch.Route memory route) private pure {
        for (uint256 i = 0; i < route.legs.length; ++i) {
            route.legs[i].floor = 0;
        }
    }

    /// @dev Different tokens, mostly without the output, and often with the wrapped native token or one that looks at
    /// the pools.
    function _pickTokens(uint256 count, address settlement) private returns (uint256 first, uint256 stride) {
        (first, stride) = (_pick(tokens.length), 1 + _pick(5)); // four steps never wrap around to the first token
        uint256 preferred = _pick(8);
        if (preferred == 0) first = WETH_INDEX;
        if (preferred == 1 || preferred == 2) first = WATCHING_INDEX + preferred - 1;
        for (uint256 i = 0; i < count; ++i) {
            bool isOutput = tokens[(first + i * stride) % tokens.length] == settlement;
            if (isOutput && _pick(4) != 0) first = (first + 1) % tokens.length;
        }
    }

    function _randomLeg(ISweepBatch batch, ISweepBatch.Route memory route, uint256 index, address token, address output)
        private
        returns (ISweepBatch.Leg memory leg)
    {
        (leg.token, leg.amount) = (token, _pickAmount(token));
        address settlement = _settlementOf(output);
        leg.floor = _randomFloor(leg, settlement, 1, 70);
        if (_pick(10) == 0) {
            leg.hop = DROPPED;
        } else if (token == address(weth) && (settlement == address(weth) || _pick(3) != 0)) {
            leg.hop = settlement == address(weth) ? 0 : JOINED;
        } else if (_losesOnTransfer(token) && _pick(8) != 0) {
            _addRouterCall(batch, route, index, leg, settlement);
        } else if (settlement != address(weth) && token != address(weth) && _pick(2) == 0) {
            leg.hop = JOINED | _randomLeast(leg, address(weth)) << 128;
            leg.hop |= _hopThrough(batch, _pickPool(token, address(weth)));
        } else if (pools[token][settlement].length != 0 && _pick(3) != 0) {
            leg.floor = _randomLeast(leg, settlement);
            leg.hop = _hopThrough(batch, _pickPool(token, settlement));
        } else {
            _addRouterCall(batch, route, index, leg, settlement);
        }
        if (leg.hop >> 24 & 0xffff == 0) return leg;
        if (_pick(5) != 0) leg.hop |= SKIPPABLE;
        if (_pick(3) == 0) leg.hop |= _randomPriceLimit();
    }

    /// @dev At the lower or the upper end of all prices, which is far away or, in the other direction, behind the price; or
    /// anywhere.
    function _randomPriceLimit() private returns (uint256) {
        uint256 kind = _pick(8);
        uint256 shift = kind == 0 ? 33 + _pick(105) : kind < 5 ? 33 : 137;
        return _priceLimit((1 << 22) - 1 - _pick(1 << 21), shift);
    }

    /// @dev What decides whether a pool leg is skipped: around the price now and then.
    function _randomLeast(ISweepBatch.Leg memory leg, address tokenOut) private returns (uint256) {
        return _pick(4) == 0 ? _randomFloor(leg, tokenOut, 85, 115) : _randomFloor(leg, tokenOut, 1, 85);
    }

    /// @dev Nothing, next to nothing, or a part of what the leg is worth at the pools' first prices.
    function _randomFloor(ISweepBatch.Leg memory leg, address tokenOut, uint256 fromPercent, uint256 toPercent)
        private
        returns (uint256)
    {
        uint256 kind = _pick(5);
        if (kind < 2) return kind;
        uint256 percent = fromPercent + _pick(toPercent - fromPercent);
        uint256 worth = Math.mulDiv(_worthOfOne(leg.token) * percent, leg.amount, oneToken[leg.token]);
        return Math.mulDiv(worth, oneToken[tokenOut], _worthOfOne(tokenOut) * 100);
    }

    function _losesOnTransfer(address token) private view returns (bool) {
        return token == address(taxed) || token == address(rebasing);
    }

    function _worthOfOne(address token) private view returns (uint256) {
        return token == address(weth) ? 2_000 : 1;
    }

    function _pickPool(address token, address other) private returns (Pool memory) {
        Pool[] storage choices = pools[token][other];
        return choices[_pick(choices.length)];
    }

    function _hopThrough(ISweepBatch batch, Pool memory pool) internal view returns (uint256) {
        return _hop(venueIds[address(batch)][pool.kind], pool.fee);
    }

    /// @dev The pool that a hop names; zero if there is none.
    function _poolOf(ISweepBatch batch, uint256 hop, address token, address other)
        internal
        view
        returns (Pool memory none)
    {
        Pool[] storage choices = pools[token][other];
        for (uint256 i = 0; i < choices.length; ++i) {
            if (uint40(hop) == _hopThrough(batch, choices[i])) return choices[i];
        }
    }

    function _isHostile(Pool memory pool) internal pure returns (bool) {
        return pool.kind == PoolKind.HostileV3 || pool.kind == PoolKind.HostileV2;
    }

    // ---------------------------------------------------------------- router legs

    function _addRouterCall(
        ISweepBatch batch,
        ISweepBatch.Route memory route,
        uint256 index,
        ISweepBatch.Leg memory leg,
        address settlement
    ) private {
        uint256 spent = _minReceived(leg.token, leg.amount);
        uint256 kind = _losesOnTransfer(leg.token) ? 0 : _pick(5);
        bool isHop = leg.token == address(weth) || settlement == address(weth);
        ISweepBatch.RouterCall memory call = ISweepBatch.RouterCall(index, address(router), "");
        if (kind < 2) {
            address[] memory path = new address[](isHop ? 2 : 3);
            (path[0], path[1], path[path.length - 1]) = (leg.token, address(weth), settlement);
            call = _v2Call(index, path, spent, address(batch));
        } else if (kind < 4 && !isHop) {
            bytes memory path = abi.encodePacked(leg.token, POOL_FEE, weth, POOL_FEE, settlement);
            ISwapRouter02.ExactInputParams memory params =
                ISwapRouter02.ExactInputParams(path, address(batch), spent, 0);
            call.data = abi.encodeCall(ISwapRouter02.exactInput, (params));
        } else {
            call = _v3Call(index, IERC20(leg.token), settlement, spent, address(batch));
            if (kind == 4) (call.router, leg.floor) = (address(hostile), _pick(2) * leg.floor);
        }
        _append(route, call);
    }

    function _append(ISweepBatch.Route memory route, ISweepBatch.RouterCall memory call) private pure {
        ISweepBatch.RouterCall[] memory calls = new ISweepBatch.RouterCall[](route.routerCalls.length + 1);
        for (uint256 i = 0; i < route.routerCalls.length; ++i) {
            calls[i] = route.routerCalls[i];
        }
        calls[route.routerCalls.length] = call;
        route.routerCalls = calls;
    }

    function _minReceived(address token, uint256 amount) private view returns (uint256) {
        uint256 lost = token == address(taxed) ? amount / 100 + 1 : token == address(rebasing) ? REBASE_UNITS : 0;
        return amount > lost ? amount - lost : amount;
    }

    // ---------------------------------------------------------------- what a contract must refuse

    /// @dev Whether the contract may accept this route, as far as the route and the lists decide.
    function _isExecutable(ISweepBatch batch, ISweepBatch.Route memory route, address output)
        internal
        view
        returns (bool)
    {
        for (uint256 i = 0; i < route.legs.length; ++i) {
            ISweepBatch.Leg memory leg = route.legs[i];
            if (leg.hop == DROPPED) continue;
            bool isUnwrapped = output == NATIVE && leg.token == address(weth) && leg.hop == 0;
            if (leg.token == _settlementOf(output) && !isUnwrapped) return false;
            if (!_isVenueListed(batch, leg.hop)) return false;
        }
        for (uint256 i = 0; i < route.routerCalls.length; ++i) {
            ISweepBatch.RouterCall memory call = route.routerCalls[i];
            if (!_isRouterListed(batch, call.router, bytes4(call.data))) return false;
        }
        return _isVenueListed(batch, route.lastHop);
    }

    function _isVenueListed(ISweepBatch batch, uint256 hop) internal view returns (bool) {
        uint256 id = hop >> 24 & 0xffff;
        ISweepBatch.ListedVenue[] memory listed = batch.venues();
        for (uint256 i = 0; i < listed.length; ++i) {
            if (listed[i].id == id) return true;
        }
        return id == 0;
    }

    function _isRouterListed(ISweepBatch batch, address candidate, bytes4 selector) internal view returns (bool) {
        ISweepBatch.AllowedRouter[] memory allowed = batch.allowedRouters();
        for (uint256 i = 0; i < allowed.length; ++i) {
            if (allowed[i].router == candidate && allowed[i].selector == selector) return true;
        }
        return false;
    }

    // ---------------------------------------------------------------- corruptions

    /// @dev Makes a route invalid, whatever it was. Numbered from 1.
    function _corruptRoute(uint256 kind, ISweepBatch batch, ISweepBatch.Route memory route, address output) internal {
        if (kind <= 9) _corruptLeg(kind, batch, route, route.legs[0]);
        else if (kind <= 14) _corruptLists(kind, batch, route, output);
        else _corruptRouterCall(kind, batch, route);
    }

    function _corruptLeg(uint256 kind, ISweepBatch batch, ISweepBatch.Route memory route, ISweepBatch.Leg memory leg)
        private
    {
        uint256 v3 = _hop(V3, POOL_FEE);
        if (kind == 1) leg.amount = 0;
        if (kind == 2) leg.hop |= _pick(2) == 0 ? 1 << 73 : 1 << 127;
        if (kind == 3) leg.amount = uint256(type(uint128).max) + 1;
        if (kind == 4) leg.floor = uint256(type(uint128).max) + 1;
        if (kind == 5) (leg.hop, route.lastHop) = (v3 | JOINED, 0);
        if (kind == 6) (leg.token, leg.hop) = (address(wbtc), _hop(VENUE_NEVER_LISTED, POOL_FEE));
        if (kind == 7) (leg.token, leg.hop) = (address(wbtc), _hop(V3, FEE_WITHOUT_POOL));
        if (kind == 8) {
            (leg.token, leg.hop) = (address(wbtc), _hop(venueIds[address(batch)][PoolKind.HostileV2], POOL_FEE));
        }
        if (kind == 9) (leg.token, leg.hop, route.routerCalls) = (address(dai), 0, new ISweepBatch.RouterCall[](0));
    }

    function _corruptLists(uint256 kind, ISweepBatch batch, ISweepBatch.Route memory route, address output) private {
        if (kind == 10) route.legs = new ISweepBatch.Leg[](_pick(2) * 31);
        if (kind == 11) route.legs = _legs(route.legs[0], route.legs[0]);
        if (kind == 12) route.maxSkipped = 256;
        if (kind == 13) {
            route.maxSkipped = route.legs.length;
            for (uint256 i = 0; i < route.legs.length; ++i) {
                route.legs[i].hop = DROPPED;
            }
            (route.lastHop, route.routerCalls) = (0, new ISweepBatch.RouterCall[](0));
        }
        if (kind == 14) _repeatLastHop(batch, route, _settlementOf(output));
    }

    /// @dev A swap of the wrapped native token in the last hop's pool; if the output needs no last hop, a last hop
    /// nevertheless.
    function _repeatLastHop(ISweepBatch batch, ISweepBatch.Route memory route, address settlement) private {
        route.lastHop = _hop(V3, POOL_FEE);
        ISweepBatch.Leg memory joined = ISweepBatch.Leg(address(wbtc), 1e8, 0, route.lastHop | JOINED);
        ISweepBatch.Leg memory direct = ISweepBatch.Leg(address(weth), 1e18, 0, route.lastHop);
        route.legs = _legs(joined, direct);
        route.routerCalls = new ISweepBatch.RouterCall[](0);
        if (_pick(2) == 0) return;
        route.legs = _legs(ISweepBatch.Leg(address(gusd), 1e2, 0, 0)); // no leg is joined
        _append(route, _v3Call(0, gusd, settlement, 1e2, address(batch)));
    }

    function _corruptRouterCall(uint256 kind, ISweepBatch batch, ISweepBatch.Route memory route) private {
        bytes memory data = abi.encodePacked(ISwapRouter02.exactInput.selector);
        if (kind == 15) _routeThrough(route, codelessRouter, data);
        if (kind == 16) _routeThrough(route, address(dai), data); // DAI as its own router
        if (kind == 17) _routeThrough(route, address(router), "abc");
        if (kind == 18) _routeThrough(route, address(hostile), data); // not one of its listed functions
        if (kind == 19) _routeThrough(route, address(router), abi.encodePacked(batch.pause.selector));
        if (kind == 20) _routeThrough(route, _pick(2) == 0 ? address(batch) : PERMIT2, data);
        if (kind == 21) _append(route, ISweepBatch.RouterCall(0, address(router), data));
        if (kind == 22) {
            _routeThrough(route, address(router), data);
            route.legs[0].amount = type(uint128).max; // more than any user has
            bytes memory path = abi.encodePacked(dai, POOL_FEE, weth);
            route.routerCalls[0].data = abi.encodeCall(
                ISwapRouter02.exactInput, (ISwapRouter02.ExactInputParams(path, address(batch), 1e18, 0))
            );
        }
    }

    function _routeThrough(ISweepBatch.Route memory route, address through, bytes memory data) private view {
        route.legs = _legs(ISweepBatch.Leg(address(dai), 1e18, 0, 0));
        (route.lastHop, route.routerCalls) = (0, new ISweepBatch.RouterCall[](0));
        _append(route, ISweepBatch.RouterCall(0, through, data));
    }
}
