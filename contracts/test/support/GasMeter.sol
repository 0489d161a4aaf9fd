// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {console} from "forge-std/console.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {SweepV4Test} from "./SweepV4Test.sol";
import {IUniswapV2Pair} from "./Uniswap.sol";

/// @title GasMeter
/// @notice Measures what a sweep costs as a transaction, including intrinsic gas and refunds: 0.3 % pools that were used
/// before, a fee split three ways, nonce words and recipients' balances already nonzero, floors close to the price, and
/// every pool leg skippable, as the service builds routes. Tests that measure must be isolated, so that each call is a
/// transaction of its own. Users either sweep their whole balances or keep one unit of each token: clearing a balance
/// refunds gas, refunds are capped at a fifth of the transaction's gas (EIP-3529), and a sweep of many tokens reaches
/// that cap where a bare swap does not.
abstract contract GasMeter is SweepV4Test {
    using SafeERC20 for IERC20;

    uint256 internal constant MOST_LEGS = 30;
    uint256 internal constant AMOUNT = 1_000e18;
    uint256 internal constant FLOOR = 0.48e18; // of about 0.497 WETH before the fee
    uint256 internal constant USDC_FLOOR = 920e6; // of about 960 USDC behind thirty legs
    uint256 internal constant TRANSACTION_GAS_CAP = 16_777_216; // EIP-7825
    uint256 private constant TRANSFER_GAS = 21_000;
    IERC20[] internal tokens;
    uint256[3] private usedBytes; // sets of last bytes: of tokens, of V3 pools, of V2 pools

    function setUp() public virtual override {
        super.setUp();
        _isNew(1, v5.poolAddress(V3, address(weth), address(usdc), POOL_FEE)); // the last hop's
        while (tokens.length < MOST_LEGS) {
            IERC20 token = IERC20(deployCode(_artifact(_tokenName()), abi.encode("TOKEN", "TOKEN", uint8(18))));
            if (!_isNext(token)) continue;
            _addPools(token, POOL_TOKENS * 1e18);
            tokens.push(token);
        }
        address[4] memory recipients = [user, partner, protocol, address(this)];
        for (uint256 i = 0; i < recipients.length; ++i) {
            _fund(address(weth), recipients[i], 1e18);
            _fund(address(usdc), recipients[i], 1e6);
        }
        _useV3Pools();
        vm.warp(block.timestamp + 12); // pools write their oracle on the first swap of a block
    }

    /// @dev The artifact of the tokens that are swept.
    function _tokenName() internal pure virtual returns (string memory) {
        return "MintableToken";
    }

    // ---------------------------------------------------------------- sweeps

    function _v5V3Gas(uint256 count, bool keeping) internal returns (uint256) {
        return _v5Gas("V5, V3 pools", _v3Route, address(weth), count, keeping);
    }

    function _v5V2Gas(uint256 count, bool keeping) internal returns (uint256) {
        return _v5Gas("V5, V2 pools", _v2Route, address(weth), count, keeping);
    }

    /// @dev Writes two more slots per pair for the first time: the sums of its prices.
    function _v5NewV2Gas(uint256 count, bool keeping) internal returns (uint256) {
        return _v5Gas("V5, V2 pools' first swaps", _newV2Route, address(weth), count, keeping);
    }

    function _v5RouterGas(uint256 count, bool keeping) internal returns (uint256) {
        return _v5Gas("V5, router legs", _routerLegsRoute, address(weth), count, keeping);
    }

    function _v5UsdcGas(uint256 count, bool keeping) internal returns (uint256) {
        return _v5Gas("V5 to USDC, shared last hop", _routeOverLastHop, address(usdc), count, keeping);
    }

    function _v4V3Gas(uint256 count, bool keeping) internal returns (uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        SweepV4 memory s = _sweepV4(_v3Route(count), address(weth));
        s.permitNonce = 12;
        _signV4(s);
        _sendV4(s);
        gasUsed = vm.lastCallGas().gasTotalUsed;
        vm.revertToState(snapshot);
        _log("V4, V3 pools", count, keeping, gasUsed);
    }

    function _v5Gas(
        string memory way,
        function(uint256) returns (ISweepBatch.Route memory) routeOf,
        address outputToken,
        uint256 count,
        bool keeping
    ) private returns (uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        _send(_nextSweep(routeOf(count), outputToken));
        gasUsed = vm.lastCallGas().gasTotalUsed;
        vm.revertToState(snapshot);
        _log(way, count, keeping, gasUsed);
    }

    // ---------------------------------------------------------------- gas limits

    /// @dev Returns the least gas limit with which a sweep through V3 pools succeeds, and what it uses.
    function _leastGasLimit(uint256 count) internal returns (uint256 least, uint256 gasUsed) {
        uint256 snapshot = vm.snapshotState();
        Sweep memory s = _nextSweep(_v3Route(count), address(weth));
        bytes memory call = abi.encodeCall(
            v5.sweep,
            (s.route, s.authorization, s.authorizationSignature, s.permitNonce, s.permitDeadline, s.permitSignature)
        );
        (least, gasUsed) = _leastGasLimitOf(address(v5), call, 1_000);
        vm.revertToState(snapshot);
    }

    /// @dev Of a call by the user, exact to `tolerance`. A call can't pass on a 64th of its gas, and pools are called from
    /// within each other, so a sweep needs more than it uses.
    function _leastGasLimitOf(address to, bytes memory data, uint256 tolerance)
        internal
        returns (uint256 least, uint256 gasUsed)
    {
        least = TRANSACTION_GAS_CAP;
        assertTrue(_succeeds(to, data, least), "a transaction may not use enough gas");
        gasUsed = vm.lastCallGas().gasTotalUsed;
        for (uint256 failing = 0; least - failing > tolerance;) {
            uint256 limit = (least + failing) / 2;
            if (_succeeds(to, data, limit)) least = limit;
            else failing = limit;
        }
    }

    /// @dev An isolated call is given the gas of a plain transfer on top of its own.
    function _succeeds(address to, bytes memory data, uint256 gasLimit) private returns (bool success) {
        if (gasLimit < TRANSFER_GAS) return false;
        uint256 snapshot = vm.snapshotState();
        vm.prank(user);
        (success,) = to.call{gas: gasLimit - TRANSFER_GAS}(data);
        vm.revertToState(snapshot);
    }

    // ---------------------------------------------------------------- routes

    function _v3Route(uint256 count) internal returns (ISweepBatch.Route memory) {
        return _poolRoute(count, _hop(V3, POOL_FEE), FLOOR);
    }

    function _newV2Route(uint256 count) internal returns (ISweepBatch.Route memory) {
        return _poolRoute(count, _hop(V2, 0), FLOOR);
    }

    function _v2Route(uint256 count) internal returns (ISweepBatch.Route memory) {
        for (uint256 i = 0; i < count; ++i) {
            IUniswapV2Pair(v5.poolAddress(V2, address(tokens[i]), address(weth), 0)).sync();
        }
        vm.warp(block.timestamp + 12);
        return _newV2Route(count);
    }

    function _routeOverLastHop(uint256 count) internal returns (ISweepBatch.Route memory route) {
        route = _poolRoute(count, _hop(V3, POOL_FEE) | JOINED | FLOOR << 128, USDC_FLOOR);
        route.lastHop = _hop(V3, POOL_FEE);
    }

    function _poolRoute(uint256 count, uint256 hop, uint256 floor) private returns (ISweepBatch.Route memory route) {
        route = _routeOf(count, hop | SKIPPABLE, floor);
        route.maxSkipped = count - 1;
        for (uint256 i = 0; i < count; ++i) {
            bool zeroForOne = address(tokens[i]) < address(weth);
            route.legs[i].hop |= _priceLimit((1 << 22) - 1, zeroForOne ? 20 : 137); // calldata like that of a real limit
        }
    }

    function _routerLegsRoute(uint256 count) internal returns (ISweepBatch.Route memory route) {
        route = _routeOf(count, 0, FLOOR);
        route.routerCalls = new ISweepBatch.RouterCall[](count);
        for (uint256 i = 0; i < count; ++i) {
            route.routerCalls[i] = _v3Call(i, tokens[i], address(weth), AMOUNT, address(v5));
        }
    }

    function _routeOf(uint256 count, uint256 hop, uint256 floor) private returns (ISweepBatch.Route memory route) {
        route.legs = new ISweepBatch.Leg[](count);
        for (uint256 i = 0; i < count; ++i) {
            route.legs[i] = _leg(tokens[i], AMOUNT, hop);
            route.legs[i].floor = floor;
        }
    }

    /// @dev With nonces that follow those used in setUp.
    function _nextSweep(ISweepBatch.Route memory route, address outputToken) internal view returns (Sweep memory s) {
        s = _sweep(route, outputToken);
        (s.authorization.nonce, s.permitNonce) = (8, 12);
        _sign(s);
    }

    // ---------------------------------------------------------------- setting up

    /// @dev The first swap in a V3 pool initializes its slots. Also uses a nonce of each word.
    function _useV3Pools() private {
        _send(_sweep(_v3Route(MOST_LEGS), address(weth)));
        Sweep memory s = _sweep(_routeOverLastHop(1), address(usdc));
        (s.authorization.nonce, s.permitNonce) = (6, 10);
        _sign(s);
        _send(s);
    }

    /// @dev Keeps effects of addresses out of the figures: every other token sorts before the wrapped native token in its
    /// pool, which is slightly cheaper to swap, and no two tokens and no two pools share a filter bit, which causes an
    /// exact check.
    function _isNext(IERC20 token) private returns (bool) {
        bool before = address(token) < address(weth);
        return before == (tokens.length % 2 == 0) && _isNew(0, address(token))
            && _isNew(1, v5.poolAddress(V3, address(token), address(weth), POOL_FEE))
            && _isNew(2, v5.poolAddress(V2, address(token), address(weth), 0));
    }

    function _isNew(uint256 set, address account) private returns (bool isNew) {
        uint256 bit = 1 << uint8(uint160(account));
        isNew = usedBytes[set] & bit == 0;
        usedBytes[set] |= bit;
    }

    function _giveOneUnitOfEach() internal {
        for (uint256 i = 0; i < MOST_LEGS; ++i) {
            _fund(address(tokens[i]), user, 1);
        }
    }

    /// @dev bin/bench-gas.mjs parses these lines.
    function _log(string memory way, uint256 count, bool keeping, uint256 gasUsed) internal pure {
        console.log(string.concat("gas: ", way, "; ", keeping ? "keeping" : "emptied", ";"), count, gasUsed);
    }
}
