// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {Vm} from "forge-std/Vm.sol";
import {Executed} from "./Executed.sol";
import {PoolWatcher} from "./InvariantActors.sol";
import {SweepTraces} from "./SweepTraces.sol";

/// @title SweepRules
/// @notice Sends a sweep and compares everything that it did with the rules, numbered as in contracts/README.md. A
/// violation is recorded permanently.
abstract contract SweepRules is SweepTraces {
    /// @dev Balances of all accounts before and after the sweep, by account and token; the native coin comes after the
    /// tokens.
    struct Balances {
        address[] tokens;
        uint256[] before;
        uint256[] afterSweep;
    }

    uint256 private constant BATCHES = 2; // the first entries of `accounts`
    uint256 private constant THOROUGH = 16; // every sixteenth sweep is checked by call and for all tokens, which is slow
    uint256 private constant SWEEP_GAS = 8_000_000; // old routers consume all their gas when an assertion fails

    mapping(address batch => uint256) public sweeps;
    mapping(address batch => mapping(address token => uint256 times)) public swept;
    mapping(address output => uint256 times) public paidOut;

    mapping(bytes32 key => uint256 times) internal executed;
    mapping(uint256 nonce => uint256 times) internal cancelled;
    mapping(address batch => bool) internal paused;
    bytes internal lastCall;
    address internal lastBatch;
    address internal lastSender;
    bytes32 internal lastId;
    mapping(address user => uint256) internal lastPermitNonce; // of a successful sweep; zero if there was none
    bytes4[] private v5Selectors;
    bytes4[] private v4Selectors;

    function setUp() public virtual override {
        super.setUp();
        bytes4[8] memory shared = [
            ISweepBatch.pause.selector,
            ISweepBatch.unpause.selector,
            ISweepBatch.rescue.selector,
            v5.allowRouter.selector,
            v5.removeRouter.selector,
            v5.listVenue.selector,
            v5.removeVenue.selector,
            bytes4(keccak256("setAuthority(address)"))
        ];
        v5Selectors = [v5.sweep.selector, v5.cancelAuthorization.selector, v5.setFeeSigner.selector];
        v5Selectors.push(v5.sweepWithPermits.selector);
        v5Selectors.push(v5.sweepAsCaller.selector);
        v5Selectors.push(v5.revokeFeeSigner.selector);
        v4Selectors = [v4.sweep.selector, v4.setFee.selector];
        v4Selectors.push(v4.sweepWithPermits.selector);
        v4Selectors.push(v4.sweepAsCaller.selector);
        for (uint256 i = 0; i < shared.length; ++i) {
            v5Selectors.push(shared[i]);
            v4Selectors.push(shared[i]);
        }
    }

    // ---------------------------------------------------------------- sending

    function _attempt(Attempt memory a) internal {
        bool thorough = _pick(THOROUGH) == 0;
        Balances memory balances;
        balances.tokens = thorough ? tokens : _tokensOf(a);
        bool usedBefore = _isUsed(a);
        balances.before = _balances(balances.tokens);
        _findPools(a);
        _watchPools(a);
        reentrant.arm(true);
        vm.recordLogs();
        if (thorough) vm.startStateDiffRecording();
        (bool succeeded, bytes memory response) = _sendAs(a.sender, address(a.batch), a.call);
        if (thorough) _checkCalls(a, vm.stopAndReturnStateDiff());
        Vm.Log[] memory logs = vm.getRecordedLogs();
        reentrant.arm(false);
        balances.afterSweep = _balances(balances.tokens);

        _check(!attacker.succeeded() && !hostileVenue.wasCalledBackWrongly(), 9);
        _check(!hostile.foundLeftoverApproval(), 5);
        if (!succeeded) {
            _recordRevert(response);
            _check(keccak256(abi.encode(balances.before)) == keccak256(abi.encode(balances.afterSweep)), 3);
            _check(_isUsed(a) == usedBefore, 3);
            return;
        }
        _check(!usedBefore, 6);
        _check(a.valid, 10);
        _check(!paused[address(a.batch)], 11);
        Trace memory trace = _traceOf(a, logs);
        _recordSuccess(a, trace);
        _checkSuccess(a, trace, balances);
    }

    function _watchPools(Attempt memory a) private {
        uint256 count = a.route.legs.length;
        PoolWatcher.Watched[] memory watched = new PoolWatcher.Watched[](count > 4 ? 0 : count + 1);
        for (uint256 i = 0; i < watched.length; ++i) {
            if (_isHostile(a.pools[i])) continue;
            watched[i] = PoolWatcher.Watched(a.pools[i].account, a.pools[i].kind == PoolKind.V2);
        }
        watcher.watch(a.sender, watched);
    }

    function _sendAs(address sender, address batch, bytes memory call) internal returns (bool, bytes memory) {
        attacker.setTarget(batch, batch == address(v5) ? v5Selectors : v4Selectors);
        vm.prank(sender);
        return batch.call{gas: SWEEP_GAS}(call);
    }

    function _recordSuccess(Attempt memory a, Trace memory trace) private {
        ++sweeps[address(a.batch)];
        ++executed[_key(address(a.batch), a.sender, a.id)];
        ++paidOut[a.outputToken];
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (_ran(trace, i)) ++swept[address(a.batch)][a.route.legs[i].token];
        }
        _countFeatures(a, trace);
        (lastCall, lastBatch, lastSender, lastId) = (a.call, address(a.batch), a.sender, a.id);
        if (a.consent != Consent.Caller) lastPermitNonce[a.sender] = a.permitNonce;
        if (_isV5(a)) _checkNonce(uint256(a.id));
        else _check(executed[_key(address(v4), a.sender, a.id)] == 1 && v4.isSweepRefUsed(a.sender, a.id), 6);
    }

    function _checkNonce(uint256 nonce) internal {
        uint256 times = executed[_key(address(v5), address(0), bytes32(nonce))] + cancelled[nonce];
        _check(times <= 1 && v5.isNonceUsed(nonce) == (times == 1), 6);
    }

    /// @dev V5 nonces are global, V4 references are per user.
    function _key(address batch, address sender, bytes32 id) private view returns (bytes32) {
        return keccak256(abi.encode(batch, batch == address(v5) ? address(0) : sender, id));
    }

    function _isUsed(Attempt memory a) private view returns (bool) {
        return _isV5(a) ? v5.isNonceUsed(uint256(a.id)) : v4.isSweepRefUsed(a.sender, a.id);
    }

    // ---------------------------------------------------------------- checks of a successful sweep

    function _checkSuccess(Attempt memory a, Trace memory trace, Balances memory balances) private {
        Executed memory e = trace.executed;
        _check(trace.events == 1 && trace.paidWrapped[accounts.length] == 0, 11);
        _check(e.outputToken == a.outputToken && e.tokenCount == a.route.legs.length, 11);
        _check(e.userAmount + e.partnerFee + e.protocolFee == e.grossOutput && e.grossOutput == trace.inflow, 1);
        _check(e.totalFee == e.grossOutput * a.feeBps / 10_000 && e.totalFee <= e.grossOutput * 300 / 10_000, 2);
        _check(e.partnerFee == e.totalFee * a.partnerShareBps / 10_000, 2);
        _checkSkipped(a, trace);
        _checkFloors(a, trace);
        _checkOpenPools(a, trace);
        for (uint256 i = 0; i < accounts.length; ++i) {
            if (i < BATCHES) _checkBatch(i, balances);
            else _checkAccount(a, trace, balances, i);
        }
        _checkAllowances(a, balances.tokens);
    }

    /// @dev The user consented to what was left out, and the offer's word or a pool's price was the reason.
    function _checkSkipped(Attempt memory a, Trace memory trace) private {
        uint256 number = 0;
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            bool isDropped = a.route.legs[i].hop == DROPPED;
            _check(isDropped == (_skipReason(trace, i) == Skip.Dropped), 11);
            if (_ran(trace, i)) continue;
            ++number;
            if (isDropped) continue;
            Pool memory pool = a.pools[i];
            _check(a.route.legs[i].hop & SKIPPABLE != 0 && pool.account != address(0), 10);
            bool hasLeast = _leastOf(a, i) != 0;
            _check(hasLeast || _isHostile(pool) || _skipReason(trace, i) == Skip.NotFilled, 10);
        }
        _check(number <= a.route.maxSkipped && number < a.route.legs.length, 10);
    }

    /// @dev Each pool paid what it had to; a hostile one need not, but the user has received the sum of the floors.
    function _checkFloors(Attempt memory a, Trace memory trace) private {
        uint256 joinedFloors = 0;
        bool isHostile = _isHostile(_lastPool(a));
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (!_ran(trace, i)) continue;
            ISweepBatch.Leg memory leg = a.route.legs[i];
            if (leg.hop & JOINED != 0) joinedFloors += leg.floor;
            Pool memory pool = a.pools[i];
            if (pool.account == address(0) || _isHostile(pool)) continue;
            _check(trace.paidByLeg[i] >= _leastOf(a, i), 3);
            if (leg.hop & JOINED == 0) _check(trace.paidByLeg[i] * (10_000 - a.feeBps) >= leg.floor * 10_000, 3);
        }
        _check(isHostile || trace.paidByLastHop * (10_000 - a.feeBps) >= joinedFloors * 10_000, 3);
    }

    /// @dev Whenever a token of the user was transferred, every pool that was used had fixed its price.
    function _checkOpenPools(Attempt memory a, Trace memory trace) private {
        uint256 open = watcher.open();
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            _check(!_ran(trace, i) || open >> i & 1 == 0, 13);
        }
        _check(trace.paidByLastHop == 0 || open >> a.route.legs.length & 1 == 0, 13);
    }

    /// @dev The contracts' balances are unchanged, idle ones included.
    function _checkBatch(uint256 who, Balances memory balances) private {
        for (uint256 j = 0; j <= balances.tokens.length; ++j) {
            (uint256 before, uint256 current) = _beforeAndAfter(balances, who, j);
            uint256 slack = j < balances.tokens.length ? _slack(balances.tokens[j]) : 0;
            _check(current + slack >= before && before + slack >= current, 4);
            _check(current + slack >= before, 12);
        }
    }

    /// @dev An account receives exactly what it is paid, in whatever roles, and loses at most what it signed away.
    function _checkAccount(Attempt memory a, Trace memory trace, Balances memory balances, uint256 who) private {
        address account = accounts[who];
        uint256 owed = _owed(a, trace.executed, account);
        uint256 wrapped = trace.paidWrapped[who];
        bool isNative = a.outputToken == NATIVE;
        for (uint256 j = 0; j <= balances.tokens.length; ++j) {
            (uint256 before, uint256 current) = _beforeAndAfter(balances, who, j);
            if (j == balances.tokens.length) {
                _check(isNative ? current + wrapped == before + owed : current == before, 11);
                if (isNative && account == a.sender) _checkMinimum(a, trace, before, current);
                continue;
            }
            address token = balances.tokens[j];
            uint256 signed = account == a.sender ? _debitOf(a, trace, token) : 0;
            _check(current + signed + _slack(token) >= before, 7);
            if (token == a.outputToken) _check(current == before + owed, 11);
            if (token == a.outputToken && account == a.sender) _checkMinimum(a, trace, before, current);
            if (isNative && token == address(weth)) _check(current + signed == before + wrapped, 11);
            if (account == a.sender && _isDebitedExactly(a, trace, token)) _check(current + signed == before, 11);
        }
    }

    function _checkMinimum(Attempt memory a, Trace memory trace, uint256 before, uint256 current) private {
        uint256 minimum = 0;
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (_ran(trace, i)) minimum += a.route.legs[i].floor;
        }
        _check(current >= before && current - before >= minimum, 3);
    }

    function _owed(Attempt memory a, Executed memory e, address account) private pure returns (uint256 owed) {
        if (account == a.sender) owed += e.userAmount;
        if (account == a.partnerRecipient) owed += e.partnerFee;
        if (account == a.protocolRecipient) owed += e.protocolFee;
    }

    function _checkAllowances(Attempt memory a, address[] memory list) private {
        address batch = address(a.batch);
        for (uint256 i = 0; i < list.length; ++i) {
            IERC20 token = IERC20(list[i]);
            _check(token.allowance(batch, address(router)) == 0, 5);
            _check(token.allowance(batch, address(hostile)) == 0, 5);
            _check(token.allowance(batch, PERMIT2) == 0, 5);
        }
    }

    // ---------------------------------------------------------------- balances

    /// @dev The inputs, the output, and the wrapped native token, which could be paid out by mistake.
    function _tokensOf(Attempt memory a) private view returns (address[] memory list) {
        ISweepBatch.Leg[] memory legs = a.route.legs;
        uint256 count = legs.length > 4 ? 1 : legs.length;
        bool another = a.outputToken != NATIVE && a.outputToken != address(weth);
        list = new address[](count + (another ? 2 : 1));
        list[0] = address(weth);
        if (another) list[1] = a.outputToken;
        for (uint256 i = 0; i < count; ++i) {
            list[list.length - 1 - i] = legs[i].token == address(0) ? address(weth) : legs[i].token;
        }
    }

    function _balances(address[] memory list) private view returns (uint256[] memory held) {
        held = new uint256[](accounts.length * (list.length + 1));
        uint256 index = 0;
        for (uint256 i = 0; i < accounts.length; ++i) {
            address account = accounts[i];
            for (uint256 j = 0; j < list.length; ++j) {
                held[index++] = IERC20(list[j]).balanceOf(account);
            }
            held[index++] = account.balance;
        }
    }

    function _beforeAndAfter(Balances memory balances, uint256 who, uint256 token)
        private
        pure
        returns (uint256, uint256)
    {
        uint256 index = who * (balances.tokens.length + 1) + token;
        return (balances.before[index], balances.afterSweep[index]);
    }

    function _slack(address token) private view returns (uint256) {
        return token == address(rebasing) ? REBASE_UNITS : 0;
    }

    /// @dev What the sender may lose of a token: nothing if its leg was left out.
    function _debitOf(Attempt memory a, Trace memory trace, address token) private pure returns (uint256) {
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (a.route.legs[i].token == token) return _ran(trace, i) ? a.route.legs[i].amount : 0;
        }
        return 0;
    }

    /// @dev Router legs give back what they don't spend, some tokens don't move as they are told, and a leg with the
    /// output token may be dropped.
    function _isDebitedExactly(Attempt memory a, Trace memory trace, address token) private view returns (bool) {
        if (token == a.outputToken) return false;
        if (token == address(lying) || token == address(rebasing) || token == address(weth)) return false;
        for (uint256 i = 0; i < a.route.legs.length; ++i) {
            if (a.route.legs[i].token == token) return !_ran(trace, i) || a.pools[i].account != address(0);
        }
        return false;
    }
}
