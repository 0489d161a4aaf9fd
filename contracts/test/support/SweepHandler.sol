// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {Vm, VmSafe} from "forge-std/Vm.sol";
import {
    BurningRecipient,
    FalseToken,
    HostileRouter,
    Intruder,
    IntrudingRecipient,
    IntrudingToken,
    IntrudingWallet,
    RebasingToken,
    RefusingRecipient,
    ZeroRefusingToken
} from "./Hostile.sol";
import {SweepTest} from "./SweepTest.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title SweepHandler
/// @notice Does to the contract what its world does: users sweep tokens of every kind through Uniswap and through a hostile
/// router, both signatures are forged and spoiled, admins administrate, strangers send tokens. After every step it compares what
/// happened with what must hold, by numbers of the rules in contracts/README.md, and remembers what broke.
contract SweepHandler is SweepTest {
    /// @dev The part of the event that is not indexed.
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

    /// @dev Balances by account and token; the coin stands behind the tokens.
    struct Balances {
        uint256[][] held;
    }

    uint256 private constant V5 = 0; // places in `accounts`
    uint256 private constant FIRST_USER = 1;
    uint256 private constant USERS = 3;
    uint256 private constant REBASE_UNITS = 2;
    bytes32 private constant TRANSFER = keccak256("Transfer(address,address,uint256)");

    mapping(uint256 rule => bool) public broken;
    mapping(bytes4 reason => bool) public reached;
    uint256 public sweeps;
    uint256 public refusals;
    uint256 public intrusionsRefused;

    address[] private accounts;
    address[] private tokens;
    Intruder[] private intruders;
    IntrudingToken private intruding;
    RebasingToken private rebasing;
    HostileRouter private hostile;
    uint256[2] private signerKeys;
    mapping(uint256 nonce => uint256 times) private executed;
    mapping(uint256 nonce => uint256 times) private cancelled;
    uint256 private permitNonces;
    uint256 private random;

    function setUp() public override {
        super.setUp();
        intruding = new IntrudingToken();
        rebasing = new RebasingToken();
        FalseToken falsy = new FalseToken();
        ZeroRefusingToken zero = new ZeroRefusingToken();
        _addPools(intruding, 2_000_000e18);
        _addPools(falsy, 2_000_000e18);
        _addPools(zero, 2_000_000e18);
        _addV2Pool(IERC20(address(rebasing)), address(weth), 2_000_000e18, POOL_WETH);
        tokens = [address(weth), address(usdc), address(dai), address(usdt), address(gusd), address(wbtc)];
        tokens.push(address(intruding));
        tokens.push(address(falsy));
        tokens.push(address(zero));
        tokens.push(address(taxed));
        tokens.push(address(rebasing));

        hostile = new HostileRouter();
        _fund(address(weth), address(hostile), 1e18);
        _fund(address(usdc), address(hostile), 1e18);
        v5.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(hostile));

        IntrudingWallet wallet = new IntrudingWallet();
        IntrudingRecipient recipient = new IntrudingRecipient();
        accounts = [address(v5), user, makeAddr("second user"), address(wallet), partner, protocol];
        accounts.push(address(recipient));
        accounts.push(address(new RefusingRecipient()));
        accounts.push(address(new BurningRecipient()));
        intruders = [Intruder(intruding), Intruder(hostile), Intruder(wallet), Intruder(recipient)];
        _equipIntruders();
        (, signerKeys[0]) = makeAddrAndKey("fee signer");
        (, signerKeys[1]) = makeAddrAndKey("other fee signer");
    }

    /// @dev Even an administrator gets in by no door while a sweep runs.
    function _equipIntruders() private {
        Sweep memory empty;
        bytes[] memory doors = new bytes[](8);
        doors[0] = abi.encodeCall(v5.sweep, (empty.legs, empty.order, empty.authorization, "", 0, 0, ""));
        doors[1] = abi.encodeCall(v5.rescue, (address(usdc), address(hostile), 1));
        doors[2] = abi.encodeCall(v5.cancelAuthorization, (1));
        doors[3] = abi.encodeCall(v5.pause, ());
        doors[4] = abi.encodeCall(v5.setFeeSigner, (address(hostile), 0));
        doors[5] = abi.encodeCall(v5.revokeFeeSigner, (signer));
        doors[6] = abi.encodeCall(v5.removeRouter, (address(router), ISwapRouter02.exactInput.selector));
        doors[7] = abi.encodeCall(
            v5.allowRouter, (address(router), ISwapRouter02.exactInput.selector, BOTH_MODES, address(router))
        );
        for (uint256 i = 0; i < intruders.length; ++i) {
            manager.grantRole(0, address(intruders[i]), 0);
            intruders[i].equip(address(v5), doors);
        }
    }

    // ---------------------------------------------------------------- steps

    /// @notice One step, chosen by the seed: mostly a sweep.
    function act(uint256 seed) external {
        random = seed;
        if (_isPaused() && _pick(2) == 0) v5.unpause();
        uint256 kind = _pick(20);
        if (kind < 12) _sweepOnce();
        else if (kind < 15) _sweepSpoiled();
        else if (kind == 15) _cancel();
        else if (kind == 16) _donate();
        else if (kind == 17) _rescue();
        else if (kind == 18) _administrate();
        else vm.warp(block.timestamp + 1 + _pick(1 days));
        _checkIntruders();
    }

    function _sweepOnce() private {
        (Sweep memory s, bool possible) = _randomSweep();
        _attempt(s, possible);
    }

    /// @dev A sweep in which one thing is wrong, signed by all the same where the wrong is not in the signatures.
    function _sweepSpoiled() private {
        (Sweep memory s,) = _randomSweep();
        uint256 kind = _pick(16);
        if (kind == 0) s.order.minUserOutput = type(uint256).max;
        if (kind == 1) s.authorization.deadline = block.timestamp - 1;
        if (kind == 2) s.authorization.user = address(this);
        if (kind == 3) s.legs[0].router = address(dai);
        if (kind == 4) s.legs[0].amount = 0;
        if (kind == 5) s.order.totalFeeBps = s.authorization.totalFeeBps = 301;
        if (kind == 6) s.authorization.partnerShareBps = 10_001;
        if (kind == 7) s.authorization.protocolRecipient = address(v5);
        if (kind == 8) s.order.partnerId = bytes32(uint256(1));
        if (kind == 9) s.legs[0].funding = 3;
        if (kind == 10) s.legs = _legs(s.legs[0], s.legs[0]);
        if (kind == 11) s.legs[0].data = "abc";
        if (kind == 12) s.order.authorizationNonce = s.authorization.nonce + 1;
        if (kind == 13) s.legs = new ISweepBatch.Leg[](31);
        _sign(s);
        if (kind == 14) s.legs[0].amount += 1;
        if (kind == 15) s.authorization.partnerRecipient = address(hostile);
        _attempt(s, false);
    }

    function _cancel() private {
        uint256 nonce = _randomNonce();
        bool usedBefore = v5.isNonceUsed(nonce);
        try v5.cancelAuthorization(nonce) {
            ++cancelled[nonce];
            _must(!usedBefore, 6);
        } catch {
            _must(usedBefore, 6);
        }
        _checkNonce(nonce);
    }

    function _donate() private {
        _fund(tokens[_pick(tokens.length)], address(v5), 1 + _pick(1e9));
        vm.deal(address(v5), address(v5).balance + _pick(10));
        if (_pick(4) == 0) rebasing.rebase();
    }

    function _rescue() private {
        address token = tokens[_pick(tokens.length - 2)]; // the taxed and the rebasing one do not arrive whole
        uint256 idle = IERC20(token).balanceOf(address(v5));
        if (idle == 0) return;
        uint256 amount = 1 + _pick(idle);
        uint256 before = IERC20(token).balanceOf(address(this));
        v5.rescue(token, address(this), amount);
        _must(IERC20(token).balanceOf(address(this)) == before + amount, 12);
        _must(IERC20(token).balanceOf(address(v5)) == idle - amount, 12);
    }

    function _administrate() private {
        uint256 kind = _pick(4);
        if (kind == 0 && !_isPaused()) v5.pause();
        if (kind == 1) {
            (signerKeys[0], signerKeys[1]) = (signerKeys[1], signerKeys[0]);
            v5.setFeeSigner(vm.addr(signerKeys[0]), uint32(_pick(2) * 1 hours));
            signerKey = signerKeys[0];
        }
        bytes4 selector = ISwapRouter02.exactInput.selector;
        (uint8 modes,) = v5.routerRule(address(router), selector);
        if (kind == 2 && modes != 0) v5.removeRouter(address(router), selector);
        if (kind == 3 && modes == 0) v5.allowRouter(address(router), selector, BOTH_MODES, address(router));
    }

    // ---------------------------------------------------------------- making a sweep

    /// @dev A sweep of one to three tokens, and whether nothing speaks against it.
    function _randomSweep() private returns (Sweep memory s, bool possible) {
        user = accounts[FIRST_USER + _pick(USERS)];
        userKey = user == makeAddr("user") ? _key("user") : _key("second user");
        address[3] memory outputs = [address(weth), NATIVE, address(usdc)];
        address output = outputs[_pick(3)];
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](1 + _pick(3));
        uint256 first = _pick(tokens.length);
        possible = true;
        for (uint256 i = 0; i < legs.length; ++i) {
            legs[i] = _randomLeg(tokens[(first + i) % tokens.length], output);
            possible = possible && _isListed(legs[i]) && tokens[(first + i) % tokens.length] != output;
            if (legs[i].router == address(0) && output != NATIVE) possible = false;
        }

        uint256 nonce = _randomNonce();
        s = _sweep(legs, output);
        s.order.authorizationNonce = s.authorization.nonce = nonce;
        s.permitNonce = permitNonces++;
        s.order.totalFeeBps = s.authorization.totalFeeBps = uint16(_pick(301));
        s.authorization.partnerShareBps = uint16(_pick(10_001));
        s.authorization.partnerRecipient = accounts[4 + _pick(5)];
        s.authorization.protocolRecipient = accounts[4 + _pick(5)];
        _sign(s);
        possible = possible && !v5.isNonceUsed(nonce) && !_isPaused();
    }

    /// @dev Mostly a new one; one of a few that come again and again otherwise.
    function _randomNonce() private returns (uint256) {
        return _pick(8) == 0 ? _pick(8) : _pick(type(uint256).max);
    }

    function _key(string memory name) private returns (uint256 key) {
        (, key) = makeAddrAndKey(name);
    }

    function _isListed(ISweepBatch.Leg memory leg) private view returns (bool) {
        if (leg.funding == UNROUTED) return true;
        (uint8 modes,) = v5.routerRule(leg.router, bytes4(leg.data));
        return modes != 0;
    }

    function _randomLeg(address token, address output) private returns (ISweepBatch.Leg memory leg) {
        uint8 funding = uint8(_pick(2));
        uint256 amount = 10_000 + _pick(1e7);
        if (token == address(weth)) {
            leg = _wethLeg(amount);
        } else if (token == address(taxed) || token == address(rebasing)) {
            leg = _v2RandomLeg(token, output, amount, APPROVED);
        } else if (_pick(4) == 0) {
            address settlement = output == NATIVE ? address(weth) : output;
            leg = _v3LegTo(IERC20(token), settlement, amount, funding, address(v5));
            leg.router = address(hostile);
        } else if (_pick(2) == 0) {
            leg = _v2RandomLeg(token, output, amount, funding);
        } else {
            leg = output == address(usdc)
                ? _v3PathLeg(IERC20(token), usdc, amount, funding)
                : _v3Leg(IERC20(token), amount, funding);
        }
    }

    /// @dev Expects of what arrives only what is sure: a tax takes 1 %, a rebasing token two units.
    function _v2RandomLeg(address token, address output, uint256 amount, uint8 funding)
        private
        returns (ISweepBatch.Leg memory leg)
    {
        address[] memory path = new address[](output == address(usdc) ? 3 : 2);
        (path[0], path[1]) = (token, address(weth));
        if (output == address(usdc)) path[2] = output;
        leg = _v2PathLeg(path, amount, funding);
        if (funding == PREFUNDED) return leg;
        uint256 spent = amount;
        if (token == address(taxed)) spent = amount - amount / 100 - 1;
        if (token == address(rebasing)) spent = amount - REBASE_UNITS;
        leg.data = abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (spent, 0, path, address(v5)));
    }

    // ---------------------------------------------------------------- sending it, and what must hold

    function _attempt(Sweep memory s, bool possible) private {
        s.order.minUserOutput = possible ? _pick(2) : s.order.minUserOutput;
        if (possible) _sign(s);
        bool paused = _isPaused();
        bool usedBefore = v5.isNonceUsed(s.authorization.nonce);
        Balances memory before = _balances();
        intruding.arm(true);
        vm.recordLogs();
        vm.startStateDiffRecording();
        (bool succeeded, bytes memory reason) = _trySend(s);
        VmSafe.AccountAccess[] memory calls = vm.stopAndReturnStateDiff();
        Vm.Log[] memory logs = vm.getRecordedLogs();
        intruding.arm(false);
        Balances memory afterwards = _balances();

        if (!succeeded) {
            ++refusals;
            reached[bytes4(reason)] = true;
            _must(_equal(before, afterwards) && v5.isNonceUsed(s.authorization.nonce) == usedBefore, 3);
            return;
        }
        ++sweeps;
        ++executed[s.authorization.nonce];
        _must(possible, 10);
        _must(!paused, 11);
        _must(!usedBefore, 6);
        _checkNonce(s.authorization.nonce);
        _checkCalls(s, calls);
        _checkMoney(s, _executed(s, logs), _inflow(s, logs), before, afterwards);
        _checkContract(before, afterwards);
        _checkDebits(s, before, afterwards);
    }

    function _trySend(Sweep memory s) private returns (bool, bytes memory) {
        bytes memory call = abi.encodeCall(
            v5.sweep,
            (
                s.legs,
                s.order,
                s.authorization,
                s.authorizationSignature,
                s.permitNonce,
                s.permitDeadline,
                s.permitSignature
            )
        );
        vm.prank(s.sender);
        return address(v5).call(call);
    }

    function _checkNonce(uint256 nonce) private {
        uint256 times = executed[nonce] + cancelled[nonce];
        _must(times <= 1 && v5.isNonceUsed(nonce) == (times == 1), 6);
    }

    /// @dev The contract calls Permit2, tokens of the sweep, who is paid, and listed functions of the routers; nothing else.
    function _checkCalls(Sweep memory s, VmSafe.AccountAccess[] memory calls) private {
        for (uint256 i = 0; i < calls.length; ++i) {
            VmSafe.AccountAccess memory call = calls[i];
            if (call.accessor != address(v5)) continue;
            _must(call.kind != VmSafe.AccountAccessKind.DelegateCall, 8);
            _must(call.kind != VmSafe.AccountAccessKind.Create, 8);
            if (call.kind != VmSafe.AccountAccessKind.Call || call.data.length < 4) continue;
            _must(_isExpectedCall(s, call.account, bytes4(call.data)), 8);
        }
    }

    function _isExpectedCall(Sweep memory s, address callee, bytes4 selector) private view returns (bool) {
        if (callee == PERMIT2) return selector == 0xfe8ec1a7; // permitWitnessTransferFrom, batch form
        if (callee == address(weth) && (selector == 0x2e1a7d4d || selector == 0xd0e30db0)) return true; // withdraw, deposit
        bool moves = selector == IERC20.transfer.selector || selector == IERC20.approve.selector;
        if (callee == s.order.outputToken || callee == address(weth)) return selector == IERC20.transfer.selector;
        for (uint256 i = 0; i < s.legs.length; ++i) {
            if (callee == s.legs[i].token) return moves;
        }
        (uint8 modes,) = v5.routerRule(callee, selector);
        return modes != 0;
    }

    function _executed(Sweep memory s, Vm.Log[] memory logs) private returns (Executed memory e) {
        uint256 events = 0;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(v5) || logs[i].topics[0] != IV5.SweepExecutedV5.selector) continue;
            ++events;
            e = abi.decode(logs[i].data, (Executed));
            _must(uint256(logs[i].topics[1]) == s.authorization.nonce, 11);
            _must(logs[i].topics[2] == bytes32(uint256(uint160(s.sender))), 11);
            _must(logs[i].topics[3] == s.authorization.partnerId, 11);
        }
        _must(events == 1, 11);
        _must(e.partnerRecipient == s.authorization.partnerRecipient, 11);
        _must(e.protocolRecipient == s.authorization.protocolRecipient, 11);
        _must(e.outputToken == s.order.outputToken && e.tokenCount == s.legs.length, 11);
    }

    /// @dev What came in of the output, by the tokens' own events.
    function _inflow(Sweep memory s, Vm.Log[] memory logs) private view returns (uint256 inflow) {
        address settlement = s.order.outputToken == NATIVE ? address(weth) : s.order.outputToken;
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != settlement || logs[i].topics[0] != TRANSFER) continue;
            if (logs[i].topics[2] == bytes32(uint256(uint160(address(v5))))) {
                inflow += abi.decode(logs[i].data, (uint256));
            }
        }
    }

    function _checkMoney(
        Sweep memory s,
        Executed memory e,
        uint256 inflow,
        Balances memory before,
        Balances memory afterwards
    ) private {
        _must(e.userAmount + e.partnerFee + e.protocolFee == e.grossOutput && e.grossOutput == inflow, 1);
        _must(e.totalFee == e.grossOutput * s.order.totalFeeBps / 10_000, 2);
        _must(e.totalFee <= e.grossOutput * 300 / 10_000, 2);
        _must(e.partnerFee == e.totalFee * s.authorization.partnerShareBps / 10_000, 2);

        uint256 userGrowth = _growth(s.sender, s.order.outputToken, before, afterwards);
        _must(userGrowth >= s.order.minUserOutput, 3);
        _must(userGrowth == e.userAmount, 11);
        address partner_ = s.authorization.partnerRecipient;
        address protocol_ = s.authorization.protocolRecipient;
        uint256 partnerGrowth = _growth(partner_, s.order.outputToken, before, afterwards);
        uint256 protocolGrowth = _growth(protocol_, s.order.outputToken, before, afterwards);
        bool same = partner_ == protocol_;
        _must(partnerGrowth == e.partnerFee + (same ? e.protocolFee : 0), 11);
        _must(protocolGrowth == e.protocolFee + (same ? e.partnerFee : 0), 11);
    }

    /// @dev For the native coin a fee recipient's wrapped coin counts, too; a user never has any here but as an input.
    function _growth(address account, address output, Balances memory before, Balances memory afterwards)
        private
        view
        returns (uint256 growth)
    {
        uint256 who = 0;
        while (accounts[who] != account) ++who;
        uint256 coin = tokens.length;
        if (output != NATIVE) {
            uint256 token = output == address(weth) ? 0 : 1;
            return afterwards.held[who][token] - before.held[who][token];
        }
        growth = afterwards.held[who][coin] - before.held[who][coin];
        if (who >= FIRST_USER + USERS) growth += afterwards.held[who][0] - before.held[who][0];
    }

    function _checkContract(Balances memory before, Balances memory afterwards) private {
        for (uint256 i = 0; i <= tokens.length; ++i) {
            (uint256 b, uint256 a) = (before.held[V5][i], afterwards.held[V5][i]);
            uint256 slack = i < tokens.length && tokens[i] == address(rebasing) ? REBASE_UNITS : 0;
            _must(a + slack >= b && b + slack >= a, 4);
            _must(a + slack >= b, 12);
        }
        for (uint256 i = 0; i < tokens.length; ++i) {
            _must(IERC20(tokens[i]).allowance(address(v5), address(router)) == 0, 5);
            _must(IERC20(tokens[i]).allowance(address(v5), address(hostile)) == 0, 5);
            _must(IERC20(tokens[i]).allowance(address(v5), PERMIT2) == 0, 5);
        }
    }

    function _checkDebits(Sweep memory s, Balances memory before, Balances memory afterwards) private {
        for (uint256 i = FIRST_USER; i < accounts.length; ++i) {
            for (uint256 j = 0; j < tokens.length; ++j) {
                uint256 slack = tokens[j] == address(rebasing) ? REBASE_UNITS : 0;
                uint256 signed = accounts[i] == s.sender ? _signedAmount(s, tokens[j]) : 0;
                _must(afterwards.held[i][j] + signed + slack >= before.held[i][j], 7);
            }
            _must(afterwards.held[i][tokens.length] >= before.held[i][tokens.length], 7);
        }
    }

    function _signedAmount(Sweep memory s, address token) private pure returns (uint256) {
        for (uint256 i = 0; i < s.legs.length; ++i) {
            if (s.legs[i].token == token) return s.legs[i].amount;
        }
        return 0;
    }

    function _checkIntruders() private {
        uint256 knocks = 0;
        for (uint256 i = 0; i < intruders.length; ++i) {
            _must(!intruders[i].intruded(), 9);
            knocks += intruders[i].knocks();
        }
        intrusionsRefused = knocks;
    }

    // ---------------------------------------------------------------- small parts

    function _balances() private view returns (Balances memory balances) {
        balances.held = new uint256[][](accounts.length);
        for (uint256 i = 0; i < accounts.length; ++i) {
            balances.held[i] = new uint256[](tokens.length + 1);
            for (uint256 j = 0; j < tokens.length; ++j) {
                balances.held[i][j] = IERC20(tokens[j]).balanceOf(accounts[i]);
            }
            balances.held[i][tokens.length] = accounts[i].balance;
        }
    }

    function _equal(Balances memory a, Balances memory b) private pure returns (bool) {
        return keccak256(abi.encode(a)) == keccak256(abi.encode(b));
    }

    function _isPaused() private view returns (bool paused) {
        (, bytes memory answer) = address(v5).staticcall(abi.encodeWithSignature("paused()"));
        return abi.decode(answer, (bool));
    }

    function _pick(uint256 below) private returns (uint256) {
        random = uint256(keccak256(abi.encode(random)));
        return random % below;
    }

    function _must(bool holds, uint256 rule) private {
        if (!holds) broken[rule] = true;
    }
}
