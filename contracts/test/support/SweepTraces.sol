// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {IV2Pool, IV3Pool} from "../../src/interfaces/IPools.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {IDaiPermit, ITokenPermit} from "../../src/interfaces/ITokenPermits.sol";
import {Vm, VmSafe} from "forge-std/Vm.sol";
import {Executed} from "./Executed.sol";
import {RandomRoutes} from "./RandomRoutes.sol";

/// @title SweepTraces
/// @notice What a sweep left behind apart from balances: its events, its calls and its error, compared with what the
/// contracts may do, and counted.
abstract contract SweepTraces is RandomRoutes {
    /// @dev How the user consents.
    enum Consent {
        Permit2,
        Permits,
        Caller
    }

    enum Skip {
        None,
        Dropped,
        BelowLeast,
        NotFilled
    }

    /// @dev A signed sweep of either contract; V4 has no partner, and its single fee is the protocol's.
    struct Attempt {
        ISweepBatch batch;
        address sender;
        Consent consent;
        ISweepBatch.Route route;
        Pool[] pools; // those of the legs and, behind them, of the last hop; zero where there is none
        address outputToken;
        uint16 feeBps;
        uint16 partnerShareBps;
        bytes32 partnerId;
        address partnerRecipient;
        address protocolRecipient;
        bytes32 id; // V5: the authorization's nonce; V4: the reference
        uint256 permitNonce;
        string permitKind; // that of the last permit of a token; empty if there is none
        bytes call;
        bool valid; // expected to succeed, unless a token, pool or router prevents it; an invalid one must not succeed
    }

    /// @dev What the events of one sweep state: our own, and transfers to the contract.
    struct Trace {
        Executed executed;
        uint256 events;
        Skip[] skips; // by leg
        uint256 inflow; // of the output
        bool isPastPools; // router legs follow, whose routers may use the same pools
        uint256[] paidByLeg; // by the leg's pool
        uint256 paidByLastHop;
        uint256[] paidWrapped; // by account; the last entry is for all other accounts
    }

    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");
    bytes32 private constant APPROVAL = keccak256("Approval(address,address,uint256)");
    uint256 private constant DEEPEST_REASON = 8;

    mapping(uint256 rule => bool) public violated;
    mapping(bytes4 reason => uint256 times) public reached;
    mapping(string feature => uint256 times) public happened;
    uint256 public reverts;

    function _check(bool holds, uint256 rule) internal {
        if (!holds) violated[rule] = true;
    }

    function _isV5(Attempt memory a) internal view returns (bool) {
        return address(a.batch) == address(v5);
    }

    function _ran(Trace memory trace, uint256 leg) internal pure returns (bool) {
        return trace.skips[leg] == Skip.None;
    }

    function _skipReason(Trace memory trace, uint256 leg) internal pure returns (Skip) {
        return trace.skips[leg];
    }

    // ---------------------------------------------------------------- the route's pools

    function _findPools(Attempt memory a) internal view {
        ISweepBatch.Leg[] memory legs = a.route.legs;
        address settlement = _settlementOf(a.outputToken);
        a.pools = new Pool[](legs.length + 1);
        for (uint256 i = 0; i < legs.length; ++i) {
            a.pools[i] = _poolOf(a.batch, legs[i].hop, legs[i].token, _poolOutputOf(legs[i], settlement));
        }
        a.pools[legs.length] = _poolOf(a.batch, a.route.lastHop, address(weth), settlement);
    }

    function _poolOutputOf(ISweepBatch.Leg memory leg, address settlement) private view returns (address) {
        return leg.hop & JOINED != 0 ? address(weth) : settlement;
    }

    function _lastPool(Attempt memory a) internal pure returns (Pool memory) {
        return a.pools[a.route.legs.length];
    }

    /// @dev The least gross output that lets a pool leg run; a V2 pair refuses to pay nothing.
    function _leastOf(Attempt memory a, uint256 index) internal pure returns (uint256) {
        ISweepBatch.Leg memory leg = a.route.legs[index];
        uint256 least = leg.hop & JOINED != 0 ? leg.hop >> 128 : leg.floor;
        return least == 0 && a.pools[index].kind == PoolKind.V2 ? 1 : least;
    }

    // ---------------------------------------------------------------- errors

    /// @dev Counts the error, and those that it nests.
    function _recordRevert(bytes memory response) internal {
        ++reverts;
        for (uint256 depth = 0; depth < DEEPEST_REASON && response.length >= 4; ++depth) {
            bytes4 selector = bytes4(response);
            ++reached[selector];
            _check(selector != bytes4(keccak256("Reentered(bytes4)")), 9);
            bytes memory arguments;
            assembly ("memory-safe") {
                arguments := add(response, 4) // in place, without the selector
                mstore(arguments, sub(mload(response), 4))
            }
            if (selector == ISweepBatch.PullFailed.selector) response = abi.decode(arguments, (bytes));
            else if (selector != ISweepBatch.LegFailed.selector) return;
            else (,, response) = abi.decode(arguments, (uint256, address, bytes));
        }
    }

    // ---------------------------------------------------------------- calls

    /// @dev The contract calls only Permit2, pools, tokens, recipients, and listed functions of routers. Calls of other
    /// contracts don't matter; calls of the sweep that were reverted do.
    function _checkCalls(Attempt memory a, VmSafe.AccountAccess[] memory calls) internal {
        for (uint256 i = 0; i < calls.length; ++i) {
            VmSafe.AccountAccess memory call = calls[i];
            if (call.accessor != address(a.batch)) continue;
            _check(call.kind != VmSafe.AccountAccessKind.DelegateCall, 8);
            _check(call.kind != VmSafe.AccountAccessKind.CallCode, 8);
            _check(call.kind != VmSafe.AccountAccessKind.Create, 8);
            if (call.kind != VmSafe.AccountAccessKind.Call || call.data.length == 0) continue;
            _check(call.value == 0 || call.account == address(weth), 8);
            _check(_isExpectedCall(a, call.account, bytes4(call.data)), 8);
        }
        _checkOrder(a, calls);
    }

    /// @dev Between the first call of a pool and the last, nothing calls a swept token except to read; a hostile pool
    /// may, but then it is not the contract that does.
    function _checkOrder(Attempt memory a, VmSafe.AccountAccess[] memory calls) private {
        uint256 first = calls.length;
        uint256 last = 0;
        for (uint256 i = 0; i < calls.length; ++i) {
            if (calls[i].accessor != address(a.batch) || calls[i].reverted || !_isSwap(calls[i])) continue;
            if (first == calls.length) first = i;
            last = i;
        }
        for (uint256 i = first; i < last; ++i) {
            if (calls[i].kind != VmSafe.AccountAccessKind.Call || calls[i].reverted) continue;
            _check(!_isSweptToken(a, calls[i].account) || _isHostileCaller(a, calls[i].accessor), 13);
        }
        if (last > first) ++happened["sweeps with an order of calls"];
    }

    function _isSwap(VmSafe.AccountAccess memory call) private pure returns (bool) {
        bytes4 selector = bytes4(call.data);
        bool isSwap = selector == IV3Pool.swap.selector || selector == IV2Pool.swap.selector;
        return isSwap && call.kind == VmSafe.AccountAccessKind.Call;
    }

    function _isSweptToken(Attempt memory a, address account) private view returns (bool) {
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (a.route.legs[i].token == account) return account != address(weth);
        }
        return false;
    }

    function _isHostileCaller(Attempt memory a, address account) private view returns (bool) {
        for (uint256 i = 0; i < a.pools.length; ++i) {
            if (_isHostile(a.pools[i])) return account != address(a.batch);
        }
        return false;
    }

    function _isExpectedCall(Attempt memory a, address callee, bytes4 selector) private view returns (bool) {
        if (callee == PERMIT2) return selector == 0xfe8ec1a7; // permitWitnessTransferFrom, batch form
        if (callee == address(weth) && (selector == 0x2e1a7d4d || selector == 0xd0e30db0)) return true; // withdraw, deposit
        if (_isPoolOf(a, callee)) return selector == IV3Pool.swap.selector || selector == IV2Pool.swap.selector;
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (callee != a.route.legs[i].token) continue;
            if (selector == IERC20.transferFrom.selector) return a.consent == Consent.Caller;
            bool isPermit = selector == ITokenPermit.permit.selector || selector == IDaiPermit.permit.selector;
            if (isPermit) return a.consent == Consent.Permits;
            return selector == IERC20.transfer.selector || selector == IERC20.approve.selector;
        }
        if (callee == a.outputToken || callee == address(weth)) return selector == IERC20.transfer.selector;
        return _isRouterListed(a.batch, callee, selector);
    }

    /// @dev Whether this is the address of one of the route's pools in a listed venue, be it created or not.
    function _isPoolOf(Attempt memory a, address callee) private view returns (bool) {
        address settlement = _settlementOf(a.outputToken);
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            ISweepBatch.Leg memory leg = a.route.legs[i];
            if (_isComputed(a.batch, callee, leg.hop, leg.token, _poolOutputOf(leg, settlement))) return true;
        }
        return _isComputed(a.batch, callee, a.route.lastHop, address(weth), settlement);
    }

    function _isComputed(ISweepBatch batch, address callee, uint256 hop, address token, address other)
        private
        view
        returns (bool)
    {
        try batch.poolAddress(uint16(hop >> 24), token, other, uint24(hop)) returns (address pool) {
            return pool == callee;
        } catch {
            return false; // no pool leg, or its venue is not listed
        }
    }

    // ---------------------------------------------------------------- events

    function _traceOf(Attempt memory a, Vm.Log[] memory logs) internal returns (Trace memory trace) {
        trace.paidWrapped = new uint256[](accounts.length + 1);
        trace.skips = new Skip[](a.route.legs.length);
        trace.paidByLeg = new uint256[](a.route.legs.length);
        uint256 count = _withoutReverted(a, logs);
        for (uint256 i = 0; i < count; ++i) {
            if (logs[i].emitter != address(a.batch)) {
                _traceTransfer(a, trace, logs[i]);
            } else if (logs[i].topics[0] == ISweepBatch.PaidWrapped.selector) {
                uint256 who = _indexOf(address(uint160(uint256(logs[i].topics[1]))));
                trace.paidWrapped[who] += abi.decode(logs[i].data, (uint256));
            } else if (logs[i].topics[0] == ISweepBatch.LegSkipped.selector) {
                _check(trace.events == 0, 11);
                _traceSkip(a, trace, logs[i]);
            } else if (logs[i].topics[0] == (_isV5(a) ? IV5.SweepExecutedV5.selector : IV4.SweepExecutedV4.selector)) {
                ++trace.events;
                trace.executed = _isV5(a) ? _executedV5(a, logs[i]) : _executedV4(a, logs[i]);
            } else {
                _check(false, 9); // an admin function was called
            }
        }
    }

    /// @dev Forge also records the events of calls that were reverted. Those are what a refused pool did since it was
    /// called, which is until its leg is reported as skipped. Moves the others to the front and returns their number.
    function _withoutReverted(Attempt memory a, Vm.Log[] memory logs) private pure returns (uint256 count) {
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter == address(a.batch) && logs[i].topics[0] == ISweepBatch.LegSkipped.selector) {
                (uint256 leg,, ISweepBatch.SkipReason reason) =
                    abi.decode(logs[i].data, (uint256, address, ISweepBatch.SkipReason));
                if (reason != ISweepBatch.SkipReason.Dropped) count = _callOf(a.pools[leg].account, logs, count);
            }
            logs[count++] = logs[i];
        }
    }

    /// @dev Where the events of the pool's call begin: with its payment, or with the event of a hostile pool.
    function _callOf(address pool, Vm.Log[] memory logs, uint256 count) private pure returns (uint256) {
        for (uint256 i = 0; i < count; ++i) {
            bool isPayment = logs[i].topics[0] == TRANSFER && logs[i].topics[1] == bytes32(uint256(uint160(pool)));
            if (isPayment || logs[i].emitter == pool) return i;
        }
        return count;
    }

    function _traceTransfer(Attempt memory a, Trace memory trace, Vm.Log memory log) private view {
        bytes32 batch = bytes32(uint256(uint160(address(a.batch))));
        if (log.topics.length != 3) return;
        if (log.topics[0] == APPROVAL && log.topics[1] == batch) trace.isPastPools = true;
        if (log.topics[0] != TRANSFER || log.topics[2] != batch) return;
        uint256 amount = abi.decode(log.data, (uint256));
        address settlement = _settlementOf(a.outputToken);
        if (log.emitter == settlement) trace.inflow += amount;
        if (trace.isPastPools) return;
        address from = address(uint160(uint256(log.topics[1])));
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            bool isOutput = log.emitter == _poolOutputOf(a.route.legs[i], settlement);
            if (isOutput && from == a.pools[i].account) trace.paidByLeg[i] += amount;
        }
        if (log.emitter == settlement && from == _lastPool(a).account) trace.paidByLastHop += amount;
    }

    function _traceSkip(Attempt memory a, Trace memory trace, Vm.Log memory log) private {
        (uint256 leg, address token, ISweepBatch.SkipReason reason) =
            abi.decode(log.data, (uint256, address, ISweepBatch.SkipReason));
        _check(log.topics[1] == a.id && token == a.route.legs[leg].token && trace.skips[leg] == Skip.None, 11);
        trace.skips[leg] = Skip(uint8(reason) + 1);
    }

    function _executedV5(Attempt memory a, Vm.Log memory log) private returns (Executed memory e) {
        e = abi.decode(log.data, (Executed));
        _check(log.topics[1] == a.id && log.topics[3] == a.partnerId, 11);
        _check(log.topics[2] == bytes32(uint256(uint160(a.sender))), 11);
        _check(e.partnerRecipient == a.partnerRecipient && e.protocolRecipient == a.protocolRecipient, 11);
    }

    function _executedV4(Attempt memory a, Vm.Log memory log) private returns (Executed memory e) {
        _check(log.topics[1] == a.id && log.topics[2] == bytes32(uint256(uint160(a.sender))), 11);
        (e.outputToken, e.tokenCount, e.grossOutput, e.totalFee, e.userAmount) =
            abi.decode(log.data, (address, uint256, uint256, uint256, uint256));
        e.protocolFee = e.totalFee;
    }

    function _indexOf(address account) private view returns (uint256 index) {
        while (index < accounts.length && accounts[index] != account) ++index;
    }

    // ---------------------------------------------------------------- what the sweeps were made of

    function _countFeatures(Attempt memory a, Trace memory trace) internal {
        string[3] memory consents = ["sweeps with Permit2", "sweeps with permits", "sweeps by the caller"];
        ++happened[consents[uint256(a.consent)]];
        if (a.consent == Consent.Permits) ++happened[a.permitKind];
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            ++happened[_featureOf(a, trace, i)];
        }
        string[4] memory kinds = ["V3", "V2", "hostile", "hostile"];
        if (trace.paidByLastHop != 0) ++happened[string.concat("last hops ", kinds[uint256(_lastPool(a).kind)])];
    }

    function _featureOf(Attempt memory a, Trace memory trace, uint256 index) private view returns (string memory) {
        Skip skip = _skipReason(trace, index);
        if (skip == Skip.Dropped) return "dropped";
        uint256 hop = a.route.legs[index].hop;
        Pool memory pool = a.pools[index];
        if (pool.account == address(0)) {
            if (a.route.legs[index].token != address(weth)) return "router legs";
            return hop & JOINED != 0 ? "joined wrapped coin" : "unwrapped";
        }
        string[4] memory kinds = ["V3", "V2", "hostile", "hostile"];
        string memory name = string.concat(hop & JOINED != 0 ? "joined " : "direct ", kinds[uint256(pool.kind)]);
        if (skip == Skip.BelowLeast) return string.concat(name, " below least");
        return skip == Skip.NotFilled ? string.concat(name, " not filled") : name;
    }
}
