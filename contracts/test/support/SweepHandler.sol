// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {HostileRouter, IntrudingWallet} from "./Intruders.sol";
import {Reasons} from "./Reasons.sol";
import {SweepRules} from "./SweepRules.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title SweepHandler
/// @notice Does to both contracts what their world does: users sweep tokens of every kind through Uniswap and through a hostile
/// router, signatures are forged and spoiled, sent sweeps are sent again, admins administrate, rightly and wrongly, strangers send
/// tokens, tokens change their minds. After every step it compares what happened with what must hold.
contract SweepHandler is SweepRules {
    /// @dev A sweep of V5 with who signs for the service.
    struct Draft {
        Sweep sweep;
        address feeSigner;
        bool possible;
    }

    // how many ways there are to spoil a sweep; numbered through, in this order
    uint256 private constant ORDER_SPOILS = 14;
    uint256 private constant LEG_SPOILS = 12;
    uint256 private constant LATE_SPOILS = 7; // after signing

    uint256 public steps;
    address[] private intruders; // a token, a router, a wallet, a delegating user, a fee recipient
    address private stranger;
    uint256 private permitNonces;
    // what the contracts are believed to hold, from what they were told
    address private currentSigner;
    address private previousSigner;
    uint256 private previousGoodUntil;
    uint16 private feeBpsV4 = 75;
    address private feeRecipientV4;
    mapping(address batch => bool) private unlisted; // the router's swaps along a path

    function setUp() public override {
        super.setUp();
        (currentSigner, feeRecipientV4) = (signer, protocol);
        uint256 strangerKey;
        (stranger, strangerKey) = makeAddrAndKey("stranger");
        keys[stranger] = strangerKey;
        intruders = [address(intruding), address(hostile), accounts[3], accounts[4], accounts[7]];
        for (uint256 i = 0; i < intruders.length; ++i) {
            burglar.expect(intruders[i]);
        }
    }

    // ---------------------------------------------------------------- steps

    /// @notice One step, chosen by the numbers: mostly a sweep.
    function act(uint256 seed, uint256 salt) external {
        ++steps;
        _shuffle(seed, salt);
        _letThemRun();
        uint256 kind = _pick(26);
        if (kind < 7) _attempt(_randomV5(0));
        else if (kind < 12) _attempt(_randomV4(0));
        else if (kind < 16) _attempt(_randomV5(1 + _pick(ORDER_SPOILS + LEG_SPOILS + LATE_SPOILS)));
        else if (kind < 18) _attempt(_randomV4(1 + _pick(ORDER_SPOILS + LEG_SPOILS + LATE_SPOILS)));
        else if (kind == 18) _cancel();
        else if (kind == 19) _repeat();
        else if (kind == 20) _donate();
        else if (kind == 21) _rescue();
        else if (kind == 22) _administrate(_pickBatch());
        else if (kind == 23) _administrateWrongly(_pickBatch());
        else if (kind == 24) _misbehave();
        else vm.warp(block.timestamp + 1 + _pick(1 days));
        _must(!burglar.entered(), 9);
    }

    /// @dev Whatever was stopped is soon let run again, or a campaign would try nothing.
    function _letThemRun() private {
        if (paused[address(v5)] && _pick(2) == 0) _unpause(v5);
        if (paused[address(v4)] && _pick(2) == 0) _unpause(v4);
        if (unlisted[address(v5)] && _pick(4) == 0) _listAgain(v5);
        if (unlisted[address(v4)] && _pick(4) == 0) _listAgain(v4);
        if (currentSigner == address(0) && _pick(2) == 0) _setFeeSigner(_pickFrom(signers), 0);
    }

    function _unpause(ISweepBatch batch) private {
        batch.unpause();
        paused[address(batch)] = false;
    }

    // ---------------------------------------------------------------- sweeps

    function _randomV5(uint256 spoil) private returns (Attempt memory) {
        Draft memory draft = _draft();
        Sweep memory s = draft.sweep;
        if (spoil != 0) draft.possible = false;
        if (spoil > ORDER_SPOILS && spoil <= ORDER_SPOILS + LEG_SPOILS) {
            s.legs = _spoilLegs(spoil - ORDER_SPOILS, v5, s.legs);
        } else if (spoil != 0) {
            _spoilV5(spoil, s);
        }
        _signDraft(draft);
        if (spoil > ORDER_SPOILS + LEG_SPOILS) _spoilLateV5(spoil - ORDER_SPOILS - LEG_SPOILS, s);
        return _attemptV5(draft);
    }

    function _draft() private returns (Draft memory draft) {
        Sweep memory s = draft.sweep;
        address output = _pickFrom(outputs);
        s.sender = _pickUser();
        s.legs = _randomLegs(v5, output);
        uint256 nonce = _randomNonce();
        bytes32 partnerId = bytes32(_pick(3));
        uint16 feeBps = uint16(_pick(301));
        s.order = IV5.SweepOrder(output, _pick(2), feeBps, partnerId, nonce);
        s.authorization = IV5.FeeAuthorization({
            user: s.sender,
            partnerId: partnerId,
            partnerRecipient: _pickRecipient(),
            protocolRecipient: _pickRecipient(),
            outputToken: output,
            totalFeeBps: feeBps,
            partnerShareBps: _pick(4) == 0 ? 10_000 : uint16(_pick(10_001)),
            nonce: nonce,
            deadline: block.timestamp + _pick(2) * 900, // now is not too late
            legsHash: 0
        });
        (s.permitNonce, s.permitDeadline) = (++permitNonces, block.timestamp + _pick(2) * 900);
        _maybeBlock(output, s.authorization.protocolRecipient);
        draft.feeSigner = _pick(8) == 0 ? previousSigner : currentSigner;
        bool counts =
            draft.feeSigner != address(0) && (draft.feeSigner == currentSigner || block.timestamp < previousGoodUntil);
        draft.possible = counts && !v5.isNonceUsed(nonce) && _mayRun(v5, s.legs, output);
    }

    function _maybeBlock(address output, address recipient) private {
        if (output == address(blocking)) blocking.blockAccount(_pick(3) == 0 ? recipient : stranger);
    }

    /// @dev Mostly a new one; one of a few at the borders of words that come again and again otherwise.
    function _randomNonce() private returns (uint256) {
        if (_pick(8) != 0) return uint256(keccak256(abi.encode(permitNonces)));
        uint256[6] memory borders = [uint256(0), 1, 255, 256, 257, type(uint256).max];
        return borders[_pick(6)];
    }

    function _signDraft(Draft memory draft) private {
        Sweep memory s = draft.sweep;
        s.authorization.legsHash = keccak256(abi.encode(s.legs));
        address by = draft.feeSigner == address(0) ? stranger : draft.feeSigner;
        s.authorizationSignature = _signBy(by, v5.hashAuthorization(s.authorization), false);
        s.permitSignature = _signBy(s.sender, _permitDigest(s), _pick(2) == 0);
    }

    function _attemptV5(Draft memory draft) private view returns (Attempt memory a) {
        Sweep memory s = draft.sweep;
        a.batch = v5;
        (a.sender, a.legs, a.possible) = (s.sender, s.legs, draft.possible);
        (a.outputToken, a.minUserOutput, a.id) =
        (s.order.outputToken, s.order.minUserOutput, bytes32(s.authorization.nonce));
        (a.feeBps, a.partnerShareBps) = (s.authorization.totalFeeBps, s.authorization.partnerShareBps);
        (a.partnerId, a.permitNonce) = (s.authorization.partnerId, s.permitNonce);
        (a.partnerRecipient, a.protocolRecipient) =
        (s.authorization.partnerRecipient, s.authorization.protocolRecipient);
        a.call = abi.encodeCall(
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
    }

    function _randomV4(uint256 spoil) private returns (Attempt memory a) {
        SweepV4 memory s;
        address output = _pickFrom(outputs);
        s.sender = _pickUser();
        s.legs = _randomLegs(v4, output);
        s.order = IV4.SweepOrderV4(output, _pick(2), feeBpsV4, bytes32(_randomNonce()));
        (s.permitNonce, s.permitDeadline) = (++permitNonces, block.timestamp + _pick(2) * 900);
        _maybeBlock(output, feeRecipientV4);
        a.possible = spoil == 0 && !v4.isSweepRefUsed(s.sender, s.order.sweepRef) && _mayRun(v4, s.legs, output);
        if (spoil > ORDER_SPOILS && spoil <= ORDER_SPOILS + LEG_SPOILS) {
            s.legs = _spoilLegs(spoil - ORDER_SPOILS, v4, s.legs);
        } else if (spoil != 0 && spoil <= ORDER_SPOILS) {
            _spoilV4(spoil, s);
        }
        s.permitSignature = _signBy(s.sender, _permitDigestV4(s), _pick(2) == 0);
        if (spoil > ORDER_SPOILS + LEG_SPOILS) _spoilLateV4(spoil - ORDER_SPOILS - LEG_SPOILS, s);

        a.batch = v4;
        (a.sender, a.legs, a.permitNonce) = (s.sender, s.legs, s.permitNonce);
        (a.outputToken, a.minUserOutput, a.id) = (s.order.outputToken, s.order.minUserOutput, s.order.sweepRef);
        (a.feeBps, a.protocolRecipient) = (feeBpsV4, feeRecipientV4);
        a.call = abi.encodeCall(v4.sweep, (s.legs, s.order, s.permitNonce, s.permitDeadline, s.permitSignature));
    }

    // ---------------------------------------------------------------- what can be wrong

    /// @dev Wrong in what is signed, and signed by all the same.
    function _spoilV5(uint256 kind, Sweep memory s) private {
        if (kind == 1) s.order.minUserOutput = type(uint256).max;
        if (kind == 2) s.authorization.deadline = block.timestamp - 1;
        if (kind == 3) s.authorization.user = stranger;
        if (kind == 4) s.order.totalFeeBps = s.authorization.totalFeeBps = 301;
        if (kind == 5) s.authorization.partnerShareBps = 10_001;
        if (kind == 6) s.authorization.protocolRecipient = _pick(2) == 0 ? address(v5) : address(weth);
        if (kind == 7) s.order.partnerId = bytes32(uint256(7));
        if (kind == 8) s.order.authorizationNonce ^= 1;
        if (kind == 9) s.order.outputToken = address(gusd);
        if (kind == 10) s.order.totalFeeBps ^= 1;
        if (kind == 11) s.order.authorizationNonce = s.authorization.nonce = _usedNonce();
        if (kind == 12) s.permitDeadline = block.timestamp - 1;
        if (kind == 13) (s.permitNonce, s.permitDeadline) = _spentPermit(s.sender);
        if (kind == 14) {
            s.authorization.partnerRecipient = address(0);
            s.authorization.partnerShareBps = 1;
            s.order.totalFeeBps = s.authorization.totalFeeBps = 300;
        }
    }

    /// @dev A nonce that Permit2 has seen from this user, or a deadline that is over.
    function _spentPermit(address sender) private view returns (uint256, uint256) {
        uint256 nonce = lastPermitNonce[sender];
        return (nonce, nonce == 0 ? block.timestamp - 1 : block.timestamp);
    }

    function _usedNonce() private returns (uint256 nonce) {
        nonce = permitNonces;
        if (v5.isNonceUsed(nonce)) return nonce;
        v5.cancelAuthorization(nonce);
        ++cancelled[nonce];
    }

    function _spoilV4(uint256 kind, SweepV4 memory s) private view {
        if (kind % 5 == 0) s.order.minUserOutput = type(uint256).max;
        if (kind % 5 == 1) s.order.feeBps = feeBpsV4 ^ 1;
        if (kind % 5 == 2) s.permitDeadline = block.timestamp - 1;
        if (kind % 5 == 3) (s.permitNonce, s.permitDeadline) = _spentPermit(s.sender);
        if (kind % 5 != 4) return;
        if (lastBatch == address(v4)) (s.sender, s.order.sweepRef) = (lastSender, lastId);
        else s.order.feeBps = 301;
    }

    /// @dev Wrong in what is to be run, and signed by all the same.
    function _spoilLegs(uint256 kind, ISweepBatch batch, ISweepBatch.Leg[] memory legs)
        private
        returns (ISweepBatch.Leg[] memory)
    {
        ISweepBatch.Leg memory leg = legs[0];
        if (kind == 1) (leg.router, leg.funding) = (stranger, APPROVED);
        if (kind == 2) leg.amount = 0;
        if (kind == 3) leg.funding = 3;
        if (kind == 4) legs = _legs(leg, leg);
        if (kind == 5) (leg.data, leg.funding) = ("abc", APPROVED);
        if (kind == 6) legs = new ISweepBatch.Leg[](_pick(2) * 31);
        if (kind == 7) legs[0] = _otherRouted(address(dai), APPROVED); // DAI as its own router
        if (kind == 8) legs[0] = _otherRouted(vanished, PREFUNDED);
        if (kind == 9) legs[0] = _otherRouted(address(hostile), APPROVED);
        if (kind == 10) (leg.token, leg.amount) = (address(dai), type(uint256).max); // more than anybody has
        if (kind == 11) (leg.data, leg.funding) = (bytes.concat(batch.pause.selector, leg.data), APPROVED);
        if (kind == 12) (leg.router, leg.funding) = (address(batch), APPROVED);
        return legs;
    }

    function _otherRouted(address by, uint8 funding) private view returns (ISweepBatch.Leg memory) {
        return ISweepBatch.Leg(address(dai), 1e18, by, funding, abi.encodePacked(ISwapRouter02.exactInput.selector));
    }

    /// @dev Changed or forged after it was signed.
    function _spoilLateV5(uint256 kind, Sweep memory s) private {
        if (kind == 1) s.legs[0].amount += 1;
        if (kind == 2) s.authorization.partnerRecipient = stranger;
        if (kind == 3) s.order.minUserOutput += 1;
        if (kind == 4) {
            s.authorization.deadline += 1; // a signer with code answers for what it did sign, whatever comes as signature
            s.authorizationSignature = _forged(v5.hashAuthorization(s.authorization));
        }
        if (kind == 5) s.permitNonce = ++permitNonces;
        if (kind == 6) (s.permitSignature, s.order.minUserOutput) = (new bytes(66), s.order.minUserOutput + 1);
        if (kind == 7) s.legs[0].data = bytes.concat(s.legs[0].data, hex"00"); // no signature of the user's covers the route
    }

    function _spoilLateV4(uint256 kind, SweepV4 memory s) private {
        if (kind == 1) s.legs[0].amount += 1;
        if (kind == 2) s.order.sweepRef = keccak256(abi.encode(s.order.sweepRef));
        if (kind == 3 || kind == 7) s.order.minUserOutput += 1;
        if (kind == 4) (s.permitSignature, s.order.minUserOutput) = (new bytes(66), s.order.minUserOutput + 1);
        if (kind == 5) s.permitNonce = ++permitNonces;
        if (kind == 6) s.permitDeadline += 1;
    }

    function _forged(bytes32 digest) private returns (bytes memory) {
        return _pick(2) == 0 ? _signature(keys[stranger], digest) : new bytes(_pick(67));
    }

    // ---------------------------------------------------------------- what else happens

    /// @dev Sent again to the byte, by the same sender.
    function _repeat() private {
        if (lastBatch == address(0)) return;
        (bool succeeded, bytes memory answer) = _sendAs(lastSender, lastBatch, lastCall);
        _must(!succeeded, 6);
        if (!succeeded) _refused(answer);
    }

    function _cancel() private {
        uint256 nonce = _randomNonce();
        bool usedBefore = v5.isNonceUsed(nonce);
        (bool succeeded, bytes memory answer) = address(v5).call(abi.encodeCall(v5.cancelAuthorization, (nonce)));
        _must(succeeded == !usedBefore, 6);
        if (succeeded) ++cancelled[nonce];
        else _refused(answer);
        _checkNonce(nonce);
    }

    function _donate() private {
        address batch = address(_pickBatch());
        blocking.blockAccount(stranger);
        _fund(_pickFrom(tokens), batch, 1 + _pick(1e9));
        vm.deal(batch, batch.balance + _pick(10));
        vm.deal(stranger, 1);
        vm.prank(stranger);
        (bool succeeded, bytes memory answer) = batch.call{value: 1}("");
        _must(!succeeded, 4);
        _refused(answer);
    }

    function _rescue() private {
        ISweepBatch batch = _pickBatch();
        address token = _pickFrom(tokens);
        if (token == address(taxed) || token == address(rebasing)) return; // these do not arrive whole
        uint256 idle = IERC20(token).balanceOf(address(batch));
        if (idle == 0) return;
        uint256 amount = 1 + _pick(idle);
        uint256 before = IERC20(token).balanceOf(address(this));
        batch.rescue(token, address(this), amount);
        _must(IERC20(token).balanceOf(address(this)) == before + amount, 12);
        _must(IERC20(token).balanceOf(address(batch)) == idle - amount, 12);
    }

    function _administrate(ISweepBatch batch) private {
        uint256 kind = _pick(6);
        if (kind == 0 && !paused[address(batch)]) {
            batch.pause();
            paused[address(batch)] = true;
        }
        if (kind == 1) _setFeeSigner(_pickFrom(signers), uint32(_pick(2) * 1 hours));
        if (kind == 2) _revoke(_pick(4) == 0 ? previousSigner : currentSigner);
        if (kind == 3) {
            (feeBpsV4, feeRecipientV4) = (uint16(_pick(301)), _pickRecipient());
            v4.setFee(feeBpsV4, feeRecipientV4);
        }
        if (kind > 3 && !unlisted[address(batch)]) {
            batch.removeRouter(address(router), ISwapRouter02.exactInput.selector);
            unlisted[address(batch)] = true;
        }
    }

    function _listAgain(ISweepBatch batch) private {
        batch.allowRouter(address(router), ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
        unlisted[address(batch)] = false;
    }

    function _setFeeSigner(address next, uint32 handoverSeconds) private {
        v5.setFeeSigner(next, handoverSeconds);
        (previousSigner, currentSigner) = (currentSigner, next);
        previousGoodUntil = block.timestamp + handoverSeconds;
    }

    function _revoke(address whom) private {
        if (whom == address(0)) return;
        v5.revokeFeeSigner(whom);
        if (previousSigner == whom) (previousSigner, previousGoodUntil) = (address(0), 0);
        if (currentSigner == whom) currentSigner = address(0);
    }

    /// @dev What no admin may do, and what no stranger may. None of it must succeed.
    function _administrateWrongly(ISweepBatch batch) private {
        bytes4 swap = ISwapRouter02.exactInputSingle.selector;
        bytes[] memory calls = new bytes[](13);
        calls[0] = abi.encodeCall(batch.allowRouter, (PERMIT2, swap, 2, address(0)));
        calls[1] = abi.encodeCall(batch.allowRouter, (address(router), swap, 1, address(weth)));
        calls[2] = abi.encodeCall(batch.allowRouter, (stranger, swap, 2, address(0)));
        calls[3] = abi.encodeCall(batch.allowRouter, (address(router), IERC20.transferFrom.selector, 2, address(0)));
        calls[4] = abi.encodeCall(batch.allowRouter, (address(router), swap, 4, address(0)));
        calls[5] = abi.encodeCall(batch.allowRouter, (address(router), swap, 1, address(0)));
        calls[6] = abi.encodeCall(batch.removeRouter, (address(router), IERC20.transferFrom.selector));
        calls[7] = abi.encodeCall(batch.rescue, (NATIVE, address(batch), 0));
        calls[8] = paused[address(batch)] ? abi.encodeCall(batch.pause, ()) : abi.encodeCall(batch.unpause, ());
        calls[9] = abi.encodeCall(v5.setFeeSigner, (address(0), 0));
        calls[10] = abi.encodeCall(v5.setFeeSigner, (signer, 1 days + 1));
        calls[11] = abi.encodeCall(v5.revokeFeeSigner, (stranger));
        calls[12] = abi.encodeCall(v4.setFee, (301, protocol));
        uint256 which = _pick(calls.length);
        address target = which < 9 ? address(batch) : which < 12 ? address(v5) : address(v4);
        if (_pick(4) == 0) vm.prank(stranger);
        (bool succeeded, bytes memory answer) = target.call(calls[which]);
        _must(!succeeded, 8);
        if (!succeeded) _refused(answer);
    }

    function _misbehave() private {
        uint256 kind = _pick(6);
        if (kind == 0) _rebase();
        if (kind == 1) hostile.setMood(HostileRouter.Mood(_pick(4)));
        if (kind == 2) IntrudingWallet(payable(accounts[FIRST_USER + 1 + _pick(2)])).refuse(_pick(4) == 0);
        if (kind == 3) blocking.blockAccount(_pick(2) == 0 ? stranger : _pickFrom(accounts));
        if (kind == 4) raiding.arm(_pick(4) == 0 ? address(0) : address(router), _pickFrom(tokens));
        if (kind == 5) lying.lie();
    }

    /// @dev A share stays worth one to two units, as it does in tokens of this kind: what rounds is a share.
    function _rebase() private {
        if (rebasing.supply() * 2 < rebasing.totalShares() * 3) rebasing.rebase();
        else rebasing.shrink();
    }

    // ---------------------------------------------------------------- what it came to

    /// @notice What happened until now, as one line of JSON.
    function tally() external view returns (string memory line) {
        line = string.concat('{"steps": ', vm.toString(steps));
        line = string.concat(line, ', "sweeps V5": ', vm.toString(sweeps[address(v5)]));
        line = string.concat(line, ', "sweeps V4": ', vm.toString(sweeps[address(v4)]));
        line = string.concat(line, ', "refusals": ', vm.toString(refusals));
        line = string.concat(line, ', "knocks": ', vm.toString(burglar.knocks()));
        line = string.concat(line, ', "knocks of a token": ', vm.toString(burglar.knocksOf(intruders[0])));
        line = string.concat(line, ', "knocks of a router": ', vm.toString(burglar.knocksOf(intruders[1])));
        line = string.concat(line, ', "knocks of a wallet": ', vm.toString(burglar.knocksOf(intruders[2])));
        line = string.concat(line, ', "knocks of a delegating user": ', vm.toString(burglar.knocksOf(intruders[3])));
        line = string.concat(line, ', "knocks of a fee recipient": ', vm.toString(burglar.knocksOf(intruders[4])));
        Reasons.Reason[] memory reasons = Reasons.all();
        for (uint256 i = 0; i < reasons.length; ++i) {
            line = string.concat(line, ', "', reasons[i].name, '": ', vm.toString(reached[reasons[i].selector]));
        }
        return string.concat(line, "}");
    }

    function sweepsOfV5() external view returns (uint256) {
        return sweeps[address(v5)];
    }

    function sweepsOfV4() external view returns (uint256) {
        return sweeps[address(v4)];
    }

    function knocks() external view returns (uint256) {
        return burglar.knocks();
    }

    /// @notice Whether every kind of token was swept by both contracts, every output paid, and every intruder let knock.
    function reachedEverybody() external view returns (bool) {
        for (uint256 i = 0; i < tokens.length; ++i) {
            if (swept[address(v5)][tokens[i]] == 0 || swept[address(v4)][tokens[i]] == 0) return false;
        }
        for (uint256 i = 0; i < outputs.length; ++i) {
            if (paidOut[outputs[i]] == 0) return false;
        }
        for (uint256 i = 0; i < intruders.length; ++i) {
            if (burglar.knocksOf(intruders[i]) == 0) return false;
        }
        return true;
    }
}
