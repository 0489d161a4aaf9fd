// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {Vm, VmSafe} from "forge-std/Vm.sol";
import {HandlerWorld} from "./HandlerWorld.sol";

/// @title SweepRules
/// @notice Sends a sweep and compares everything that it did with the rules, numbered as in contracts/README.md. A
/// violation is recorded permanently.
abstract contract SweepRules is HandlerWorld {
    /// @dev A signed sweep of either contract; in V4 there is no partner, and the single fee is the protocol's.
    struct Attempt {
        ISweepBatch batch;
        address sender;
        ISweepBatch.Leg[] legs;
        address outputToken;
        uint256 minUserOutput;
        uint16 feeBps;
        uint16 partnerShareBps;
        bytes32 partnerId;
        address partnerRecipient;
        address protocolRecipient;
        bytes32 id; // V5: the authorization's nonce; V4: the reference
        uint256 permitNonce;
        bytes call;
        bool valid; // expected to succeed, unless a token or router prevents it; an invalid one must not succeed
    }

    /// @dev The data of either contract's event.
    struct Executed {
        address partnerRecipient;
        address protocolRecipient;
        address outputToken;
        uint256 tokenCount;
        uint256 grossOutput;
        uint256 totalFee;
        uint256 partnerFee;
        uint256 protocolFee;
        uint256 userAmount;
    }

    /// @dev What the events of one sweep state: our own events, and transfers of the output to the contract.
    struct Emitted {
        Executed executed;
        uint256 events;
        uint256 inflow;
        uint256[] paidWrapped; // by account; the last entry is for all other accounts
    }

    /// @dev Balances of all accounts before and after the sweep, by account and token; the native coin comes after the
    /// tokens.
    struct Balances {
        address[] tokens;
        uint256[] before;
        uint256[] afterSweep;
    }

    uint256 private constant BATCHES = 2; // the first entries of `accounts`
    uint256 private constant THOROUGH = 16; // every sixteenth sweep is checked by call and for all tokens, which is slow
    uint256 private constant SWEEP_GAS = 5_000_000; // old routers consume all their gas when an assertion fails
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    mapping(uint256 rule => bool) public violated;
    mapping(bytes4 reason => uint256 times) public reached;
    mapping(address batch => uint256) public sweeps;
    mapping(address batch => mapping(address token => uint256 times)) public swept;
    mapping(address output => uint256 times) public paidOut;
    uint256 public reverts;

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
        bytes4[6] memory shared = [
            ISweepBatch.pause.selector,
            ISweepBatch.unpause.selector,
            ISweepBatch.rescue.selector,
            v5.allowRouter.selector,
            v5.removeRouter.selector,
            bytes4(keccak256("setAuthority(address)"))
        ];
        v5Selectors = [v5.sweep.selector, v5.cancelAuthorization.selector, v5.setFeeSigner.selector];
        v5Selectors.push(v5.revokeFeeSigner.selector);
        v4Selectors = [v4.sweep.selector, v4.setFee.selector];
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
        vm.recordLogs();
        reentrant.arm(true);
        if (thorough) vm.startStateDiffRecording();
        (bool succeeded, bytes memory response) = _sendAs(a.sender, address(a.batch), a.call);
        if (thorough) _checkCalls(a, vm.stopAndReturnStateDiff());
        reentrant.arm(false);
        balances.afterSweep = _balances(balances.tokens);

        _check(!attacker.succeeded(), 9);
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
        _recordSuccess(a);
        _checkSuccess(a, balances);
    }

    function _sendAs(address sender, address batch, bytes memory call) internal returns (bool, bytes memory) {
        attacker.setTarget(batch, batch == address(v5) ? v5Selectors : v4Selectors);
        vm.prank(sender);
        return batch.call{gas: SWEEP_GAS}(call);
    }

    function _recordRevert(bytes memory response) internal {
        ++reverts;
        ++reached[bytes4(response)];
        _check(bytes4(response) != bytes4(keccak256("Reentered(bytes4)")), 9);
    }

    function _recordSuccess(Attempt memory a) private {
        ++sweeps[address(a.batch)];
        ++executed[_key(address(a.batch), a.sender, a.id)];
        ++paidOut[a.outputToken];
        for (uint256 i = 0; i < a.legs.length; ++i) {
            ++swept[address(a.batch)][a.legs[i].token];
        }
        (lastCall, lastBatch, lastSender, lastId) = (a.call, address(a.batch), a.sender, a.id);
        lastPermitNonce[a.sender] = a.permitNonce;
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

    function _isV5(Attempt memory a) private view returns (bool) {
        return address(a.batch) == address(v5);
    }

    // ---------------------------------------------------------------- checks of a successful sweep

    function _checkSuccess(Attempt memory a, Balances memory balances) private {
        Emitted memory emitted = _decodeLogs(a, vm.getRecordedLogs());
        Executed memory e = emitted.executed;
        _check(emitted.events == 1 && emitted.paidWrapped[accounts.length] == 0, 11);
        _check(e.outputToken == a.outputToken && e.tokenCount == a.legs.length, 11);
        _check(e.userAmount + e.partnerFee + e.protocolFee == e.grossOutput && e.grossOutput == emitted.inflow, 1);
        _check(e.totalFee == e.grossOutput * a.feeBps / 10_000 && e.totalFee <= e.grossOutput * 300 / 10_000, 2);
        _check(e.partnerFee == e.totalFee * a.partnerShareBps / 10_000, 2);
        for (uint256 i = 0; i < accounts.length; ++i) {
            if (i < BATCHES) _checkBatch(i, balances);
            else _checkAccount(a, emitted, balances, i);
        }
        _checkAllowances(a, balances.tokens);
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
    function _checkAccount(Attempt memory a, Emitted memory emitted, Balances memory balances, uint256 who) private {
        address account = accounts[who];
        uint256 owed = _owed(a, emitted.executed, account);
        uint256 wrapped = emitted.paidWrapped[who];
        bool isNative = a.outputToken == NATIVE;
        for (uint256 j = 0; j <= balances.tokens.length; ++j) {
            (uint256 before, uint256 current) = _beforeAndAfter(balances, who, j);
            if (j == balances.tokens.length) {
                _check(isNative ? current + wrapped == before + owed : current == before, 11);
                if (isNative && account == a.sender) {
                    _check(current >= before && current - before >= a.minUserOutput, 3);
                }
                continue;
            }
            address token = balances.tokens[j];
            uint256 signed = account == a.sender ? _signedAmount(a, token) : 0;
            _check(current + signed + _slack(token) >= before, 7);
            if (token == a.outputToken) _check(current == before + owed, 11);
            if (token == a.outputToken && account == a.sender) {
                _check(current >= before && current - before >= a.minUserOutput, 3);
            }
            if (isNative && token == address(weth)) _check(current + signed == before + wrapped, 11);
        }
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

    // ---------------------------------------------------------------- checks of calls

    /// @dev The contract calls only Permit2, tokens of the sweep, recipients, and listed functions of routers. Calls of
    /// other contracts don't matter; calls of the sweep that were reverted do.
    function _checkCalls(Attempt memory a, VmSafe.AccountAccess[] memory calls) private {
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
    }

    function _isExpectedCall(Attempt memory a, address callee, bytes4 selector) private view returns (bool) {
        if (callee == PERMIT2) return selector == 0xfe8ec1a7; // permitWitnessTransferFrom, batch form
        if (callee == address(weth) && (selector == 0x2e1a7d4d || selector == 0xd0e30db0)) return true; // withdraw, deposit
        if (callee == a.outputToken) return selector == IERC20.transfer.selector;
        for (uint256 i = 0; i < a.legs.length; ++i) {
            if (callee != a.legs[i].token) continue;
            return selector == IERC20.transfer.selector || selector == IERC20.approve.selector;
        }
        if (callee == address(weth)) return selector == IERC20.transfer.selector;
        (uint8 modes,) = a.batch.routerRule(callee, selector);
        return modes != 0;
    }

    // ---------------------------------------------------------------- decoding events

    function _decodeLogs(Attempt memory a, Vm.Log[] memory logs) private returns (Emitted memory emitted) {
        emitted.paidWrapped = new uint256[](accounts.length + 1);
        address settlement = a.outputToken == NATIVE ? address(weth) : a.outputToken;
        bytes32 batch = bytes32(uint256(uint160(address(a.batch))));
        for (uint256 i = 0; i < logs.length; ++i) {
            Vm.Log memory log = logs[i];
            if (log.emitter == settlement && log.topics[0] == TRANSFER && log.topics[2] == batch) {
                emitted.inflow += abi.decode(log.data, (uint256));
            }
            if (log.emitter != address(a.batch)) continue;
            if (log.topics[0] == ISweepBatch.PaidWrapped.selector) {
                uint256 who = _indexOf(address(uint160(uint256(log.topics[1]))));
                emitted.paidWrapped[who] += abi.decode(log.data, (uint256));
            } else if (log.topics[0] == (_isV5(a) ? IV5.SweepExecutedV5.selector : IV4.SweepExecutedV4.selector)) {
                ++emitted.events;
                emitted.executed = _isV5(a) ? _executedV5(a, log) : _executedV4(a, log);
            } else {
                _check(false, 9); // an admin function was called
            }
        }
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

    // ---------------------------------------------------------------- helpers

    function _check(bool holds, uint256 rule) internal {
        if (!holds) violated[rule] = true;
    }

    /// @dev The inputs, the output, and the wrapped native token, which could be paid out by mistake.
    function _tokensOf(Attempt memory a) private view returns (address[] memory list) {
        uint256 count = a.legs.length > 3 ? 1 : a.legs.length;
        bool another = a.outputToken != NATIVE && a.outputToken != address(weth);
        list = new address[](count + (another ? 2 : 1));
        list[0] = address(weth);
        if (another) list[1] = a.outputToken;
        for (uint256 i = 0; i < count; ++i) {
            list[list.length - 1 - i] = a.legs[i].token == address(0) ? address(weth) : a.legs[i].token;
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

    function _signedAmount(Attempt memory a, address token) private pure returns (uint256) {
        for (uint256 i = 0; i < a.legs.length; ++i) {
            if (a.legs[i].token == token) return a.legs[i].amount;
        }
        return 0;
    }

    function _indexOf(address account) private view returns (uint256 index) {
        while (index < accounts.length && accounts[index] != account) ++index;
    }
}
