// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {Vm, VmSafe} from "forge-std/Vm.sol";
import {HandlerWorld} from "./HandlerWorld.sol";

/// @title SweepRules
/// @notice Sends a sweep and compares everything that it did with what must hold, by numbers of the rules in contracts/README.md.
/// What broke is remembered for good.
abstract contract SweepRules is HandlerWorld {
    /// @dev A signed sweep of either contract; V4 has no partner and one fee, which is the protocol's.
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
        bool possible; // nothing speaks against it; one that is not must not succeed
    }

    /// @dev What the event of either contract tells.
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

    /// @dev What the events of one sweep tell: ours, and the transfers of the output to the contract.
    struct Told {
        Executed executed;
        uint256 events;
        uint256 inflow;
        uint256[] paidWrapped; // by account; the last place is everybody else's
    }

    /// @dev Balances of all accounts before and after, by account and token; the coin stands behind the tokens.
    struct Seen {
        address[] tokens;
        uint256[] before;
        uint256[] afterwards;
    }

    uint256 private constant BATCHES = 2; // first in `accounts`
    uint256 private constant THOROUGH = 16; // each sixteenth sweep is watched call by call and on all tokens, which is slow
    uint256 private constant SWEEP_GAS = 5_000_000; // old routers use up all they have when they assert
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    mapping(uint256 rule => bool) public broken;
    mapping(bytes4 reason => uint256 times) public reached;
    mapping(address batch => uint256) public sweeps;
    mapping(address batch => mapping(address token => uint256 times)) public swept;
    mapping(address output => uint256 times) public paidOut;
    uint256 public refusals;

    mapping(bytes32 key => uint256 times) internal executed;
    mapping(uint256 nonce => uint256 times) internal cancelled;
    mapping(address batch => bool) internal paused;
    bytes internal lastCall;
    address internal lastBatch;
    address internal lastSender;
    bytes32 internal lastId;
    mapping(address user => uint256) internal lastPermitNonce; // of a sweep that succeeded; zero if none did
    bytes4[] private doors5;
    bytes4[] private doors4;

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
        doors5 = [v5.sweep.selector, v5.cancelAuthorization.selector, v5.setFeeSigner.selector];
        doors5.push(v5.revokeFeeSigner.selector);
        doors4 = [v4.sweep.selector, v4.setFee.selector];
        for (uint256 i = 0; i < shared.length; ++i) {
            doors5.push(shared[i]);
            doors4.push(shared[i]);
        }
    }

    // ---------------------------------------------------------------- sending it

    function _attempt(Attempt memory a) internal {
        bool thorough = _pick(THOROUGH) == 0;
        Seen memory seen;
        seen.tokens = thorough ? tokens : _tokensOf(a);
        bool usedBefore = _isUsed(a);
        seen.before = _balances(seen.tokens);
        vm.recordLogs();
        intruding.arm(true);
        if (thorough) vm.startStateDiffRecording();
        (bool succeeded, bytes memory answer) = _sendAs(a.sender, address(a.batch), a.call);
        if (thorough) _checkCalls(a, vm.stopAndReturnStateDiff());
        intruding.arm(false);
        seen.afterwards = _balances(seen.tokens);

        _must(!burglar.entered(), 9);
        _must(!hostile.foundAnApproval(), 5);
        if (!succeeded) {
            _refused(answer);
            _must(keccak256(abi.encode(seen.before)) == keccak256(abi.encode(seen.afterwards)), 3);
            _must(_isUsed(a) == usedBefore, 3);
            return;
        }
        _must(!usedBefore, 6);
        _must(a.possible, 10);
        _must(!paused[address(a.batch)], 11);
        _remember(a);
        _checkSuccess(a, seen);
    }

    function _sendAs(address sender, address batch, bytes memory call) internal returns (bool, bytes memory) {
        burglar.aim(batch, batch == address(v5) ? doors5 : doors4);
        vm.prank(sender);
        return batch.call{gas: SWEEP_GAS}(call);
    }

    function _refused(bytes memory answer) internal {
        ++refusals;
        ++reached[bytes4(answer)];
        _must(bytes4(answer) != bytes4(keccak256("Entered(bytes4)")), 9);
    }

    function _remember(Attempt memory a) private {
        ++sweeps[address(a.batch)];
        ++executed[_key(address(a.batch), a.sender, a.id)];
        ++paidOut[a.outputToken];
        for (uint256 i = 0; i < a.legs.length; ++i) {
            ++swept[address(a.batch)][a.legs[i].token];
        }
        (lastCall, lastBatch, lastSender, lastId) = (a.call, address(a.batch), a.sender, a.id);
        lastPermitNonce[a.sender] = a.permitNonce;
        if (_isV5(a)) _checkNonce(uint256(a.id));
        else _must(executed[_key(address(v4), a.sender, a.id)] == 1 && v4.isSweepRefUsed(a.sender, a.id), 6);
    }

    function _checkNonce(uint256 nonce) internal {
        uint256 times = executed[_key(address(v5), address(0), bytes32(nonce))] + cancelled[nonce];
        _must(times <= 1 && v5.isNonceUsed(nonce) == (times == 1), 6);
    }

    /// @dev A nonce of V5 is everybody's, a reference of V4 is its user's.
    function _key(address batch, address sender, bytes32 id) private view returns (bytes32) {
        return keccak256(abi.encode(batch, batch == address(v5) ? address(0) : sender, id));
    }

    function _isUsed(Attempt memory a) private view returns (bool) {
        return _isV5(a) ? v5.isNonceUsed(uint256(a.id)) : v4.isSweepRefUsed(a.sender, a.id);
    }

    function _isV5(Attempt memory a) private view returns (bool) {
        return address(a.batch) == address(v5);
    }

    // ---------------------------------------------------------------- what must hold of one that succeeded

    function _checkSuccess(Attempt memory a, Seen memory seen) private {
        Told memory told = _listen(a, vm.getRecordedLogs());
        Executed memory e = told.executed;
        _must(told.events == 1 && told.paidWrapped[accounts.length] == 0, 11);
        _must(e.outputToken == a.outputToken && e.tokenCount == a.legs.length, 11);
        _must(e.userAmount + e.partnerFee + e.protocolFee == e.grossOutput && e.grossOutput == told.inflow, 1);
        _must(e.totalFee == e.grossOutput * a.feeBps / 10_000 && e.totalFee <= e.grossOutput * 300 / 10_000, 2);
        _must(e.partnerFee == e.totalFee * a.partnerShareBps / 10_000, 2);
        for (uint256 i = 0; i < accounts.length; ++i) {
            if (i < BATCHES) _checkBatch(i, seen);
            else _checkAccount(a, told, seen, i);
        }
        _checkAllowances(a, seen.tokens);
    }

    /// @dev What the contracts hold is what they held, and no less of what lay idle.
    function _checkBatch(uint256 who, Seen memory seen) private {
        for (uint256 j = 0; j <= seen.tokens.length; ++j) {
            (uint256 b, uint256 a) = _beforeAndAfter(seen, who, j);
            uint256 slack = j < seen.tokens.length ? _slack(seen.tokens[j]) : 0;
            _must(a + slack >= b && b + slack >= a, 4);
            _must(a + slack >= b, 12);
        }
    }

    /// @dev Of what it was paid an account has exactly that, whatever its roles; of what it signed away at most that left it.
    function _checkAccount(Attempt memory a, Told memory told, Seen memory seen, uint256 who) private {
        address account = accounts[who];
        uint256 owed = _owed(a, told.executed, account);
        uint256 wrapped = told.paidWrapped[who];
        bool isNative = a.outputToken == NATIVE;
        for (uint256 j = 0; j <= seen.tokens.length; ++j) {
            (uint256 b, uint256 now_) = _beforeAndAfter(seen, who, j);
            if (j == seen.tokens.length) {
                _must(isNative ? now_ + wrapped == b + owed : now_ == b, 11);
                if (isNative && account == a.sender) _must(now_ >= b && now_ - b >= a.minUserOutput, 3);
                continue;
            }
            address token = seen.tokens[j];
            uint256 signed = account == a.sender ? _signedAmount(a, token) : 0;
            _must(now_ + signed + _slack(token) >= b, 7);
            if (token == a.outputToken) _must(now_ == b + owed, 11);
            if (token == a.outputToken && account == a.sender) _must(now_ >= b && now_ - b >= a.minUserOutput, 3);
            if (isNative && token == address(weth)) _must(now_ + signed == b + wrapped, 11);
        }
    }

    function _owed(Attempt memory a, Executed memory e, address account) private pure returns (uint256 owed) {
        if (account == a.sender) owed += e.userAmount;
        if (account == a.partnerRecipient) owed += e.partnerFee;
        if (account == a.protocolRecipient) owed += e.protocolFee;
    }

    function _checkAllowances(Attempt memory a, address[] memory those) private {
        address batch = address(a.batch);
        for (uint256 i = 0; i < those.length; ++i) {
            IERC20 token = IERC20(those[i]);
            _must(token.allowance(batch, address(router)) == 0, 5);
            _must(token.allowance(batch, address(hostile)) == 0, 5);
            _must(token.allowance(batch, PERMIT2) == 0, 5);
        }
    }

    // ---------------------------------------------------------------- what was called

    /// @dev A contract calls Permit2, tokens of the sweep, who is paid, and listed functions of the routers; nothing else. Others
    /// may call what they like, and what of the sweep's calls was reverted counts all the same.
    function _checkCalls(Attempt memory a, VmSafe.AccountAccess[] memory calls) private {
        for (uint256 i = 0; i < calls.length; ++i) {
            VmSafe.AccountAccess memory call = calls[i];
            if (call.accessor != address(a.batch)) continue;
            _must(call.kind != VmSafe.AccountAccessKind.DelegateCall, 8);
            _must(call.kind != VmSafe.AccountAccessKind.CallCode, 8);
            _must(call.kind != VmSafe.AccountAccessKind.Create, 8);
            if (call.kind != VmSafe.AccountAccessKind.Call || call.data.length == 0) continue;
            _must(call.value == 0 || call.account == address(weth), 8);
            _must(_isExpectedCall(a, call.account, bytes4(call.data)), 8);
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

    // ---------------------------------------------------------------- what was told

    function _listen(Attempt memory a, Vm.Log[] memory logs) private returns (Told memory told) {
        told.paidWrapped = new uint256[](accounts.length + 1);
        address settlement = a.outputToken == NATIVE ? address(weth) : a.outputToken;
        bytes32 batch = bytes32(uint256(uint160(address(a.batch))));
        for (uint256 i = 0; i < logs.length; ++i) {
            Vm.Log memory log = logs[i];
            if (log.emitter == settlement && log.topics[0] == TRANSFER && log.topics[2] == batch) {
                told.inflow += abi.decode(log.data, (uint256));
            }
            if (log.emitter != address(a.batch)) continue;
            if (log.topics[0] == ISweepBatch.PaidWrapped.selector) {
                uint256 who = _place(address(uint160(uint256(log.topics[1]))));
                told.paidWrapped[who] += abi.decode(log.data, (uint256));
            } else if (log.topics[0] == (_isV5(a) ? IV5.SweepExecutedV5.selector : IV4.SweepExecutedV4.selector)) {
                ++told.events;
                told.executed = _isV5(a) ? _executedV5(a, log) : _executedV4(a, log);
            } else {
                _must(false, 9); // something was administrated
            }
        }
    }

    function _executedV5(Attempt memory a, Vm.Log memory log) private returns (Executed memory e) {
        e = abi.decode(log.data, (Executed));
        _must(log.topics[1] == a.id && log.topics[3] == a.partnerId, 11);
        _must(log.topics[2] == bytes32(uint256(uint160(a.sender))), 11);
        _must(e.partnerRecipient == a.partnerRecipient && e.protocolRecipient == a.protocolRecipient, 11);
    }

    function _executedV4(Attempt memory a, Vm.Log memory log) private returns (Executed memory e) {
        _must(log.topics[1] == a.id && log.topics[2] == bytes32(uint256(uint160(a.sender))), 11);
        (e.outputToken, e.tokenCount, e.grossOutput, e.totalFee, e.userAmount) =
            abi.decode(log.data, (address, uint256, uint256, uint256, uint256));
        e.protocolFee = e.totalFee;
    }

    // ---------------------------------------------------------------- small parts

    function _must(bool holds, uint256 rule) internal {
        if (!holds) broken[rule] = true;
    }

    /// @dev The inputs, and what is paid out or could be by mistake.
    function _tokensOf(Attempt memory a) private view returns (address[] memory those) {
        uint256 count = a.legs.length > 3 ? 1 : a.legs.length;
        bool another = a.outputToken != NATIVE && a.outputToken != address(weth);
        those = new address[](count + (another ? 2 : 1));
        those[0] = address(weth);
        if (another) those[1] = a.outputToken;
        for (uint256 i = 0; i < count; ++i) {
            those[those.length - 1 - i] = a.legs[i].token == address(0) ? address(weth) : a.legs[i].token;
        }
    }

    function _balances(address[] memory those) private view returns (uint256[] memory held) {
        held = new uint256[](accounts.length * (those.length + 1));
        uint256 place = 0;
        for (uint256 i = 0; i < accounts.length; ++i) {
            address account = accounts[i];
            for (uint256 j = 0; j < those.length; ++j) {
                held[place++] = IERC20(those[j]).balanceOf(account);
            }
            held[place++] = account.balance;
        }
    }

    function _beforeAndAfter(Seen memory seen, uint256 who, uint256 token) private pure returns (uint256, uint256) {
        uint256 place = who * (seen.tokens.length + 1) + token;
        return (seen.before[place], seen.afterwards[place]);
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

    function _place(address account) private view returns (uint256 place) {
        while (place < accounts.length && accounts[place] != account) ++place;
    }
}
