// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {HostileRouter, ReentrantWallet} from "./ReentrancyActors.sol";
import {Reasons} from "./Reasons.sol";
import {SweepRules} from "./SweepRules.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title SweepHandler
/// @notice Exercises both contracts with random steps: users sweep tokens of every kind through Uniswap and a hostile
/// router, signatures are forged and corrupted, sweeps are replayed, admins make valid and invalid calls, strangers
/// send tokens, tokens change their behavior. After every step it compares the outcome with the rules.
contract SweepHandler is SweepRules {
    /// @dev A sweep of V5 and the account that signs for the service.
    struct Draft {
        Sweep sweep;
        address feeSigner;
        bool valid;
    }

    // The number of ways to corrupt a sweep; numbered consecutively, in this order.
    uint256 private constant ORDER_CORRUPTIONS = 14;
    uint256 private constant LEG_CORRUPTIONS = 12;
    uint256 private constant SIGNED_CORRUPTIONS = 7; // after signing

    uint256 public steps;
    address[] private reentrantActors; // a token, a router, a wallet, a delegating user, a fee recipient
    address private stranger;
    uint256 private permitNonces;
    // The expected state of the contracts, derived from the calls that were made.
    address private currentSigner;
    address private previousSigner;
    uint256 private previousGoodUntil;
    uint16 private feeBpsV4 = 75;
    address private feeRecipientV4;
    mapping(address batch => bool) private delisted; // the router's multi-hop V3 swap

    function setUp() public override {
        super.setUp();
        (currentSigner, feeRecipientV4) = (signer, protocol);
        uint256 strangerKey;
        (stranger, strangerKey) = makeAddrAndKey("stranger");
        keys[stranger] = strangerKey;
        reentrantActors = [address(reentrant), address(hostile), accounts[3], accounts[4], accounts[7]];
        for (uint256 i = 0; i < reentrantActors.length; ++i) {
            attacker.register(reentrantActors[i]);
        }
    }

    // ---------------------------------------------------------------- steps

    /// @notice Makes one step, determined by the arguments: a sweep in most cases.
    function act(uint256 seed, uint256 salt) external {
        ++steps;
        _seedRandom(seed, salt);
        _resumeOperations();
        uint256 kind = _pick(26);
        if (kind < 7) _attempt(_randomV5(0));
        else if (kind < 12) _attempt(_randomV4(0));
        else if (kind < 16) _attempt(_randomV5(1 + _pick(ORDER_CORRUPTIONS + LEG_CORRUPTIONS + SIGNED_CORRUPTIONS)));
        else if (kind < 18) _attempt(_randomV4(1 + _pick(ORDER_CORRUPTIONS + LEG_CORRUPTIONS + SIGNED_CORRUPTIONS)));
        else if (kind == 18) _cancel();
        else if (kind == 19) _replay();
        else if (kind == 20) _donate();
        else if (kind == 21) _rescue();
        else if (kind == 22) _administer(_pickBatch());
        else if (kind == 23) _callAdminFunctionsInvalidly(_pickBatch());
        else if (kind == 24) _changeBehavior();
        else vm.warp(block.timestamp + 1 + _pick(1 days));
        _check(!attacker.succeeded(), 9);
    }

    /// @dev Soon resumes what was paused, removed or revoked, so that a campaign continues to sweep.
    function _resumeOperations() private {
        if (paused[address(v5)] && _pick(2) == 0) _unpause(v5);
        if (paused[address(v4)] && _pick(2) == 0) _unpause(v4);
        if (delisted[address(v5)] && _pick(4) == 0) _relistRouter(v5);
        if (delisted[address(v4)] && _pick(4) == 0) _relistRouter(v4);
        if (currentSigner == address(0) && _pick(2) == 0) _setFeeSigner(_pickFrom(signers), 0);
    }

    function _unpause(ISweepBatch batch) private {
        batch.unpause();
        paused[address(batch)] = false;
    }

    // ---------------------------------------------------------------- sweeps

    function _randomV5(uint256 corruption) private returns (Attempt memory) {
        Draft memory draft = _draft();
        Sweep memory s = draft.sweep;
        if (corruption != 0) draft.valid = false;
        if (corruption > ORDER_CORRUPTIONS && corruption <= ORDER_CORRUPTIONS + LEG_CORRUPTIONS) {
            s.legs = _corruptLegs(corruption - ORDER_CORRUPTIONS, v5, s.legs);
        } else if (corruption != 0) {
            _corruptV5(corruption, s);
        }
        _signDraft(draft);
        if (corruption > ORDER_CORRUPTIONS + LEG_CORRUPTIONS) {
            _corruptSignedV5(corruption - ORDER_CORRUPTIONS - LEG_CORRUPTIONS, s);
        }
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
            deadline: block.timestamp + _pick(2) * 900, // the current timestamp is still valid
            legsHash: 0
        });
        (s.permitNonce, s.permitDeadline) = (++permitNonces, block.timestamp + _pick(2) * 900);
        _maybeBlock(output, s.authorization.protocolRecipient);
        draft.feeSigner = _pick(8) == 0 ? previousSigner : currentSigner;
        bool isValidSigner =
            draft.feeSigner != address(0) && (draft.feeSigner == currentSigner || block.timestamp < previousGoodUntil);
        draft.valid = isValidSigner && !v5.isNonceUsed(nonce) && _isExecutable(v5, s.legs, output);
    }

    function _maybeBlock(address output, address recipient) private {
        if (output == address(blocking)) blocking.blockAccount(_pick(3) == 0 ? recipient : stranger);
    }

    /// @dev Mostly an unused one; otherwise one of a few at word boundaries, which recur.
    function _randomNonce() private returns (uint256) {
        if (_pick(8) != 0) return uint256(keccak256(abi.encode(permitNonces)));
        uint256[6] memory borders = [uint256(0), 1, 255, 256, 257, type(uint256).max];
        return borders[_pick(6)];
    }

    function _signDraft(Draft memory draft) private {
        Sweep memory s = draft.sweep;
        s.authorization.legsHash = keccak256(abi.encode(s.legs));
        address by = draft.feeSigner == address(0) ? stranger : draft.feeSigner;
        s.authorizationSignature = _signAs(by, v5.hashAuthorization(s.authorization), false);
        s.permitSignature = _signAs(s.sender, _permitDigest(s), _pick(2) == 0);
    }

    function _attemptV5(Draft memory draft) private view returns (Attempt memory a) {
        Sweep memory s = draft.sweep;
        a.batch = v5;
        (a.sender, a.legs, a.valid) = (s.sender, s.legs, draft.valid);
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

    function _randomV4(uint256 corruption) private returns (Attempt memory a) {
        SweepV4 memory s;
        address output = _pickFrom(outputs);
        s.sender = _pickUser();
        s.legs = _randomLegs(v4, output);
        s.order = IV4.SweepOrderV4(output, _pick(2), feeBpsV4, bytes32(_randomNonce()));
        (s.permitNonce, s.permitDeadline) = (++permitNonces, block.timestamp + _pick(2) * 900);
        _maybeBlock(output, feeRecipientV4);
        a.valid = corruption == 0 && !v4.isSweepRefUsed(s.sender, s.order.sweepRef) && _isExecutable(v4, s.legs, output);
        if (corruption > ORDER_CORRUPTIONS && corruption <= ORDER_CORRUPTIONS + LEG_CORRUPTIONS) {
            s.legs = _corruptLegs(corruption - ORDER_CORRUPTIONS, v4, s.legs);
        } else if (corruption != 0 && corruption <= ORDER_CORRUPTIONS) {
            _corruptV4(corruption, s);
        }
        s.permitSignature = _signAs(s.sender, _permitDigestV4(s), _pick(2) == 0);
        if (corruption > ORDER_CORRUPTIONS + LEG_CORRUPTIONS) {
            _corruptSignedV4(corruption - ORDER_CORRUPTIONS - LEG_CORRUPTIONS, s);
        }

        a.batch = v4;
        (a.sender, a.legs, a.permitNonce) = (s.sender, s.legs, s.permitNonce);
        (a.outputToken, a.minUserOutput, a.id) = (s.order.outputToken, s.order.minUserOutput, s.order.sweepRef);
        (a.feeBps, a.protocolRecipient) = (feeBpsV4, feeRecipientV4);
        a.call = abi.encodeCall(v4.sweep, (s.legs, s.order, s.permitNonce, s.permitDeadline, s.permitSignature));
    }

    // ---------------------------------------------------------------- corruptions

    /// @dev Corrupts what is signed, before signing.
    function _corruptV5(uint256 kind, Sweep memory s) private {
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

    /// @dev A nonce that Permit2 has already used for this user, or a deadline in the past.
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

    function _corruptV4(uint256 kind, SweepV4 memory s) private view {
        if (kind % 5 == 0) s.order.minUserOutput = type(uint256).max;
        if (kind % 5 == 1) s.order.feeBps = feeBpsV4 ^ 1;
        if (kind % 5 == 2) s.permitDeadline = block.timestamp - 1;
        if (kind % 5 == 3) (s.permitNonce, s.permitDeadline) = _spentPermit(s.sender);
        if (kind % 5 != 4) return;
        if (lastBatch == address(v4)) (s.sender, s.order.sweepRef) = (lastSender, lastId);
        else s.order.feeBps = 301;
    }

    /// @dev Corrupts the legs, before signing.
    function _corruptLegs(uint256 kind, ISweepBatch batch, ISweepBatch.Leg[] memory legs)
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
        if (kind == 7) legs[0] = _legThrough(address(dai), APPROVED); // DAI as its own router
        if (kind == 8) legs[0] = _legThrough(codelessRouter, PREFUNDED);
        if (kind == 9) legs[0] = _legThrough(address(hostile), APPROVED);
        if (kind == 10) (leg.token, leg.amount) = (address(dai), type(uint256).max); // more than any user has
        if (kind == 11) (leg.data, leg.funding) = (bytes.concat(batch.pause.selector, leg.data), APPROVED);
        if (kind == 12) (leg.router, leg.funding) = (address(batch), APPROVED);
        return legs;
    }

    function _legThrough(address through, uint8 funding) private view returns (ISweepBatch.Leg memory) {
        return
            ISweepBatch.Leg(address(dai), 1e18, through, funding, abi.encodePacked(ISwapRouter02.exactInput.selector));
    }

    /// @dev Changes or forges something after signing.
    function _corruptSignedV5(uint256 kind, Sweep memory s) private {
        if (kind == 1) s.legs[0].amount += 1;
        if (kind == 2) s.authorization.partnerRecipient = stranger;
        if (kind == 3) s.order.minUserOutput += 1;
        if (kind == 4) {
            s.authorization.deadline += 1; // a signer with code accepts any signature for a digest it signed
            s.authorizationSignature = _forged(v5.hashAuthorization(s.authorization));
        }
        if (kind == 5) s.permitNonce = ++permitNonces;
        if (kind == 6) (s.permitSignature, s.order.minUserOutput) = (new bytes(66), s.order.minUserOutput + 1);
        if (kind == 7) s.legs[0].data = bytes.concat(s.legs[0].data, hex"00"); // not covered by the user's signature
    }

    function _corruptSignedV4(uint256 kind, SweepV4 memory s) private {
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

    // ---------------------------------------------------------------- other steps

    /// @dev Sends the last successful call again, byte for byte, from the same sender.
    function _replay() private {
        if (lastBatch == address(0)) return;
        (bool succeeded, bytes memory response) = _sendAs(lastSender, lastBatch, lastCall);
        _check(!succeeded, 6);
        if (!succeeded) _recordRevert(response);
    }

    function _cancel() private {
        uint256 nonce = _randomNonce();
        bool usedBefore = v5.isNonceUsed(nonce);
        (bool succeeded, bytes memory response) = address(v5).call(abi.encodeCall(v5.cancelAuthorization, (nonce)));
        _check(succeeded == !usedBefore, 6);
        if (succeeded) ++cancelled[nonce];
        else _recordRevert(response);
        _checkNonce(nonce);
    }

    function _donate() private {
        address batch = address(_pickBatch());
        blocking.blockAccount(stranger);
        _fund(_pickFrom(tokens), batch, 1 + _pick(1e9));
        vm.deal(batch, batch.balance + _pick(10));
        vm.deal(stranger, 1);
        vm.prank(stranger);
        (bool succeeded, bytes memory response) = batch.call{value: 1}("");
        _check(!succeeded, 4);
        _recordRevert(response);
    }

    function _rescue() private {
        ISweepBatch batch = _pickBatch();
        address token = _pickFrom(tokens);
        if (token == address(taxed) || token == address(rebasing)) return; // these lose units on transfer
        uint256 idle = IERC20(token).balanceOf(address(batch));
        if (idle == 0) return;
        uint256 amount = 1 + _pick(idle);
        uint256 before = IERC20(token).balanceOf(address(this));
        batch.rescue(token, address(this), amount);
        _check(IERC20(token).balanceOf(address(this)) == before + amount, 12);
        _check(IERC20(token).balanceOf(address(batch)) == idle - amount, 12);
    }

    function _administer(ISweepBatch batch) private {
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
        if (kind > 3 && !delisted[address(batch)]) {
            batch.removeRouter(address(router), ISwapRouter02.exactInput.selector);
            delisted[address(batch)] = true;
        }
    }

    function _relistRouter(ISweepBatch batch) private {
        batch.allowRouter(address(router), ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
        delisted[address(batch)] = false;
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

    /// @dev Invalid calls by admins, and valid ones by strangers. None may succeed.
    function _callAdminFunctionsInvalidly(ISweepBatch batch) private {
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
        (bool succeeded, bytes memory response) = target.call(calls[which]);
        _check(!succeeded, 8);
        if (!succeeded) _recordRevert(response);
    }

    function _changeBehavior() private {
        uint256 kind = _pick(6);
        if (kind == 0) _rebase();
        if (kind == 1) hostile.setBehavior(HostileRouter.Behavior(_pick(4)));
        if (kind == 2) ReentrantWallet(payable(accounts[FIRST_USER + 1 + _pick(2)])).setRejecting(_pick(4) == 0);
        if (kind == 3) blocking.blockAccount(_pick(2) == 0 ? stranger : _pickFrom(accounts));
        if (kind == 4) draining.arm(_pick(4) == 0 ? address(0) : address(router), _pickFrom(tokens));
        if (kind == 5) lying.lieOnce();
    }

    /// @dev Keeps a share worth one to two units, as with real rebasing tokens, so that rounding is at most one share.
    function _rebase() private {
        if (rebasing.supply() * 2 < rebasing.totalShares() * 3) rebasing.rebase();
        else rebasing.shrink();
    }

    // ---------------------------------------------------------------- results

    /// @notice Returns what has happened so far, as one line of JSON.
    function tally() external view returns (string memory line) {
        line = string.concat('{"steps": ', vm.toString(steps));
        line = string.concat(line, ', "sweeps V5": ', vm.toString(sweeps[address(v5)]));
        line = string.concat(line, ', "sweeps V4": ', vm.toString(sweeps[address(v4)]));
        line = string.concat(line, ', "reverts": ', vm.toString(reverts));
        line = string.concat(line, ', "re-entry attempts": ', vm.toString(attacker.attempts()));
        line = string.concat(
            line, ', "re-entry attempts by a token": ', vm.toString(attacker.attemptsOf(reentrantActors[0]))
        );
        line = string.concat(
            line, ', "re-entry attempts by a router": ', vm.toString(attacker.attemptsOf(reentrantActors[1]))
        );
        line = string.concat(
            line, ', "re-entry attempts by a wallet": ', vm.toString(attacker.attemptsOf(reentrantActors[2]))
        );
        line = string.concat(
            line, ', "re-entry attempts by a delegating user": ', vm.toString(attacker.attemptsOf(reentrantActors[3]))
        );
        line = string.concat(
            line, ', "re-entry attempts by a fee recipient": ', vm.toString(attacker.attemptsOf(reentrantActors[4]))
        );
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

    function attempts() external view returns (uint256) {
        return attacker.attempts();
    }

    /// @notice Whether both contracts swept every kind of token, every output was paid, and every actor tried to
    /// re-enter.
    function reachedEveryActor() external view returns (bool) {
        for (uint256 i = 0; i < tokens.length; ++i) {
            if (swept[address(v5)][tokens[i]] == 0 || swept[address(v4)][tokens[i]] == 0) return false;
        }
        for (uint256 i = 0; i < outputs.length; ++i) {
            if (paidOut[outputs[i]] == 0) return false;
        }
        for (uint256 i = 0; i < reentrantActors.length; ++i) {
            if (attacker.attemptsOf(reentrantActors[i]) == 0) return false;
        }
        return true;
    }
}
