// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {ITokenPermit} from "../../src/interfaces/ITokenPermits.sol";
import {SweepRules} from "./SweepRules.sol";

/// @title RandomSweeps
/// @notice Random sweeps of both contracts, signed by user and service, with every way of consent; and ways to corrupt
/// them, before and after signing.
abstract contract RandomSweeps is SweepRules {
    using SafeERC20 for IERC20;

    /// @dev A sweep of V5 and the account that signs for the service.
    struct Draft {
        Sweep sweep;
        address feeSigner;
        Consent consent;
        bool valid;
    }

    // The number of ways to corrupt a sweep; numbered consecutively, in this order, with those of routes in between.
    uint256 internal constant ORDER_CORRUPTIONS = 10;
    uint256 internal constant SIGNED_CORRUPTIONS = 14; // after signing
    uint256 private constant FIRST_OTHER_TERM = 8; // from here on the user signs other terms than the service
    uint256 private constant LAST_OTHER_TERM = 13;

    address internal stranger;
    uint256 private permitNonces;
    ISweepBatch.TokenPermit[] private permits;
    string private permitKind;
    // The expected state of the contracts, derived from the calls that were made.
    address internal currentSigner;
    address internal previousSigner;
    uint256 internal previousGoodUntil;
    uint16 internal feeBpsV4 = 75;
    address internal feeRecipientV4;

    function setUp() public virtual override {
        super.setUp();
        (currentSigner, feeRecipientV4) = (signer, protocol);
        uint256 strangerKey;
        (stranger, strangerKey) = makeAddrAndKey("stranger");
        keys[stranger] = strangerKey;
    }

    /// @dev Zero corrupts nothing.
    function _pickCorruption() internal returns (uint256) {
        return 1 + _pick(ORDER_CORRUPTIONS + ROUTE_CORRUPTIONS + SIGNED_CORRUPTIONS);
    }

    /// @dev Mostly an unused one; otherwise one of a few at word boundaries, which recur.
    function _randomNonce() internal returns (uint256) {
        if (_pick(16) != 0) return uint256(keccak256(abi.encode(permitNonces)));
        uint256[6] memory borders = [uint256(0), 1, 255, 256, 257, type(uint256).max];
        return borders[_pick(6)];
    }

    function _maybeBlock(address output, address recipient) private {
        if (output == address(blocking)) blocking.blockAccount(_pick(3) == 0 ? recipient : stranger);
    }

    // ---------------------------------------------------------------- V5

    function _randomV5(uint256 corruption) internal returns (Attempt memory) {
        Draft memory draft = _draft();
        if (corruption != 0) draft.valid = false;
        uint256 signed = 0;
        if (corruption > ORDER_CORRUPTIONS + ROUTE_CORRUPTIONS) {
            signed = corruption - ORDER_CORRUPTIONS - ROUTE_CORRUPTIONS;
        } else if (corruption > ORDER_CORRUPTIONS) {
            Sweep memory s = draft.sweep;
            _corruptRoute(corruption - ORDER_CORRUPTIONS, v5, s.route, s.authorization.outputToken);
        } else {
            _corruptV5(corruption, draft);
        }
        _signDraft(draft, signed);
        _preparePermits(draft.consent, draft.sweep.sender, draft.sweep.route.legs);
        _corruptSignedV5(signed, draft);
        return _attemptV5(draft);
    }

    function _draft() private returns (Draft memory draft) {
        Sweep memory s = draft.sweep;
        address output = _pickFrom(outputs);
        s.sender = _pickUser();
        s.route = _randomRoute(v5, output);
        s.authorization = IV5.FeeAuthorization({
            user: s.sender,
            partnerId: bytes32(_pick(3)),
            partnerRecipient: _pickRecipient(),
            protocolRecipient: _pickRecipient(),
            outputToken: output,
            totalFeeBps: uint16(_pick(301)),
            partnerShareBps: _pick(4) == 0 ? 10_000 : uint16(_pick(10_001)),
            nonce: _randomNonce(),
            deadline: block.timestamp + _pick(2) * 900, // the current timestamp is still valid
            legsHash: 0
        });
        (s.permitNonce, s.permitDeadline) = (++permitNonces, block.timestamp + _pick(2) * 900);
        _maybeBlock(output, s.authorization.protocolRecipient);
        draft.consent = _pickConsent();
        draft.feeSigner = _pick(16) == 0 ? previousSigner : currentSigner;
        bool isValidSigner =
            draft.feeSigner != address(0) && (draft.feeSigner == currentSigner || block.timestamp < previousGoodUntil);
        draft.valid = isValidSigner && !v5.isNonceUsed(s.authorization.nonce) && _isExecutable(v5, s.route, output);
    }

    function _pickConsent() private returns (Consent) {
        uint256 kind = _pick(4);
        return kind < 2 ? Consent.Permit2 : Consent(kind - 1);
    }

    /// @dev For corruptions of what only a Permit2 signature covers.
    function _requireSignature(Draft memory draft) private pure {
        if (draft.consent == Consent.Caller) draft.consent = Consent.Permit2;
    }

    function _signDraft(Draft memory draft, uint256 signedCorruption) private {
        Sweep memory s = draft.sweep;
        if (signedCorruption >= FIRST_OTHER_TERM && signedCorruption <= LAST_OTHER_TERM) {
            _requireSignature(draft);
            _changeTerm(signedCorruption, s, true);
            s.permitSignature = _signAs(s.sender, _permitDigest(s), false);
            _changeTerm(signedCorruption, s, false);
        } else {
            s.permitSignature = _signAs(s.sender, _permitDigest(s), _pick(2) == 0);
        }
        s.authorization.legsHash = keccak256(abi.encode(s.route));
        address by = draft.feeSigner == address(0) ? stranger : draft.feeSigner;
        s.authorizationSignature = _signAs(by, v5.hashAuthorization(s.authorization), false);
    }

    /// @dev Changes a term, or changes it back.
    function _changeTerm(uint256 kind, Sweep memory s, bool forward) private view {
        IV5.FeeAuthorization memory a = s.authorization;
        if (kind == 8) a.partnerId ^= bytes32(uint256(4));
        if (kind == 9) a.nonce ^= 1;
        if (kind == 10) a.outputToken = address(uint160(a.outputToken) ^ uint160(address(gusd)));
        if (kind == 11) a.totalFeeBps ^= 1;
        if (kind == 12) s.route.legs[0].floor ^= 1;
        if (kind == 13) s.route.maxSkipped = forward ? s.route.maxSkipped + 1 : s.route.maxSkipped - 1;
    }

    function _attemptV5(Draft memory draft) private view returns (Attempt memory a) {
        Sweep memory s = draft.sweep;
        IV5.FeeAuthorization memory authorization = s.authorization;
        a.batch = v5;
        (a.sender, a.route, a.consent, a.valid) = (s.sender, s.route, draft.consent, draft.valid);
        (a.outputToken, a.id, a.partnerId) =
        (authorization.outputToken, bytes32(authorization.nonce), authorization.partnerId);
        (a.feeBps, a.partnerShareBps) = (authorization.totalFeeBps, authorization.partnerShareBps);
        (a.partnerRecipient, a.protocolRecipient) = (authorization.partnerRecipient, authorization.protocolRecipient);
        (a.permitNonce, a.permitKind) = (s.permitNonce, permitKind);
        bytes memory signature = s.authorizationSignature;
        if (a.consent == Consent.Caller) {
            a.call = abi.encodeCall(v5.sweepAsCaller, (s.route, authorization, signature));
        } else if (a.consent == Consent.Permits) {
            a.call = abi.encodeCall(
                v5.sweepWithPermits,
                (s.route, authorization, signature, permits, s.permitNonce, s.permitDeadline, s.permitSignature)
            );
        } else {
            a.call = abi.encodeCall(
                v5.sweep, (s.route, authorization, signature, s.permitNonce, s.permitDeadline, s.permitSignature)
            );
        }
    }

    /// @dev Corrupts what is signed, before signing.
    function _corruptV5(uint256 kind, Draft memory draft) private {
        Sweep memory s = draft.sweep;
        if (kind == 1) _raiseFloors(s.route);
        if (kind == 2) s.authorization.deadline = block.timestamp - 1;
        if (kind == 3) s.authorization.user = stranger;
        if (kind == 4) s.authorization.totalFeeBps = 301;
        if (kind == 5) s.authorization.partnerShareBps = 10_001;
        if (kind == 6) s.authorization.protocolRecipient = _pick(2) == 0 ? address(v5) : address(weth);
        if (kind == 7) s.authorization.nonce = _usedNonce();
        if (kind == 8 || kind == 9) _requireSignature(draft);
        if (kind == 8) s.permitDeadline = block.timestamp - 1;
        if (kind == 9) (s.permitNonce, s.permitDeadline) = _spentPermit(s.sender);
        if (kind == 10) {
            s.authorization.partnerRecipient = address(0);
            s.authorization.partnerShareBps = 1;
            s.authorization.totalFeeBps = 300;
        }
    }

    function _raiseFloors(ISweepBatch.Route memory route) private pure {
        for (uint256 i = 0; i < route.legs.length; ++i) {
            route.legs[i].floor = type(uint128).max >> 1;
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

    /// @dev Changes or forges something after signing.
    function _corruptSignedV5(uint256 kind, Draft memory draft) private {
        Sweep memory s = draft.sweep;
        if (kind == 1) s.route.legs[0].amount += 1;
        if (kind == 2) s.authorization.partnerRecipient = stranger;
        if (kind == 3) s.route.legs[0].floor ^= 1;
        if (kind == 4) {
            s.authorization.deadline += 1; // a signer with code accepts any signature for a digest it signed
            s.authorizationSignature = _forged(v5.hashAuthorization(s.authorization));
        }
        if (kind == 5 || kind == 6) {
            _requireSignature(draft);
            s.permitNonce = ++permitNonces;
        }
        if (kind == 6) s.permitSignature = new bytes(66);
        if (kind == 7) s.route.lastHop ^= 1; // not covered by the user's signature
        if (kind == 14) {
            draft.consent = Consent.Permits;
            _permitForUnknownLeg(s.route.legs.length);
        }
    }

    function _forged(bytes32 digest) private returns (bytes memory) {
        return _pick(2) == 0 ? _signature(keys[stranger], digest) : new bytes(_pick(67));
    }

    // ---------------------------------------------------------------- V4

    function _randomV4(uint256 corruption) internal returns (Attempt memory a) {
        SweepV4 memory s;
        address output = _pickFrom(outputs);
        s.sender = _pickUser();
        s.route = _randomRoute(v4, output);
        s.order = IV4.SweepOrderV4(output, feeBpsV4, bytes32(_randomNonce()));
        (s.permitNonce, s.permitDeadline) = (++permitNonces, block.timestamp + _pick(2) * 900);
        _maybeBlock(output, feeRecipientV4);
        a.consent = _pickConsent();
        a.valid =
            corruption == 0 && !v4.isSweepRefUsed(s.sender, s.order.sweepRef) && _isExecutable(v4, s.route, output);
        bool isRoute = corruption > ORDER_CORRUPTIONS && corruption <= ORDER_CORRUPTIONS + ROUTE_CORRUPTIONS;
        if (isRoute) _corruptRoute(corruption - ORDER_CORRUPTIONS, v4, s.route, output);
        else if (corruption != 0 && a.consent == Consent.Caller) a.consent = Consent.Permit2;
        if (corruption != 0 && corruption <= ORDER_CORRUPTIONS) _corruptV4(corruption, s);
        s.permitSignature = _signAs(s.sender, _permitDigestV4(s), _pick(2) == 0);
        _preparePermits(a.consent, s.sender, s.route.legs);
        if (corruption > ORDER_CORRUPTIONS + ROUTE_CORRUPTIONS) {
            _corruptSignedV4(corruption - ORDER_CORRUPTIONS - ROUTE_CORRUPTIONS, s, a);
        }
        _completeV4(s, a);
    }

    function _completeV4(SweepV4 memory s, Attempt memory a) private view {
        a.batch = v4;
        (a.sender, a.route, a.permitNonce, a.permitKind) = (s.sender, s.route, s.permitNonce, permitKind);
        (a.outputToken, a.id) = (s.order.outputToken, s.order.sweepRef);
        (a.feeBps, a.protocolRecipient) = (feeBpsV4, feeRecipientV4);
        if (a.consent == Consent.Caller) {
            a.call = abi.encodeCall(v4.sweepAsCaller, (s.route, s.order));
        } else if (a.consent == Consent.Permits) {
            a.call = abi.encodeCall(
                v4.sweepWithPermits, (s.route, s.order, permits, s.permitNonce, s.permitDeadline, s.permitSignature)
            );
        } else {
            a.call = abi.encodeCall(v4.sweep, (s.route, s.order, s.permitNonce, s.permitDeadline, s.permitSignature));
        }
    }

    function _corruptV4(uint256 kind, SweepV4 memory s) private view {
        if (kind % 5 == 0) _raiseFloors(s.route);
        if (kind % 5 == 1) s.order.feeBps = feeBpsV4 ^ 1;
        if (kind % 5 == 2) s.permitDeadline = block.timestamp - 1;
        if (kind % 5 == 3) (s.permitNonce, s.permitDeadline) = _spentPermit(s.sender);
        if (kind % 5 != 4) return;
        if (lastBatch == address(v4)) (s.sender, s.order.sweepRef) = (lastSender, lastId);
        else s.order.feeBps = 301;
    }

    function _corruptSignedV4(uint256 kind, SweepV4 memory s, Attempt memory a) private {
        kind %= 8;
        if (kind == 0) s.route.legs[0].amount += 1;
        if (kind == 1) s.order.sweepRef = keccak256(abi.encode(s.order.sweepRef));
        if (kind == 2) s.route.legs[0].floor ^= 1;
        if (kind == 3 || kind == 4) s.permitNonce = ++permitNonces;
        if (kind == 4) s.permitSignature = new bytes(66);
        if (kind == 5) s.permitDeadline += 1;
        if (kind == 6) s.route.maxSkipped += 1;
        if (kind == 7) {
            a.consent = Consent.Permits;
            _permitForUnknownLeg(s.route.legs.length);
        }
    }

    // ---------------------------------------------------------------- permits of tokens

    /// @dev Users who bring permits have mostly not approved Permit2 for these tokens; the others have.
    function _preparePermits(Consent consent, address sender, ISweepBatch.Leg[] memory legs) private {
        delete permits;
        permitKind = "";
        if (legs.length > 4) return;
        for (uint256 i = 0; i < legs.length; ++i) {
            IERC20 token = IERC20(legs[i].token);
            bool hasPermit = address(token) == address(watching) || address(token) == address(daiKind);
            if (!hasPermit) {
                if (consent == Consent.Permits && _pick(8) == 0) _addPermit(sender, i, false, keys[stranger]);
                continue;
            }
            bool approves = consent != Consent.Permits || _pick(4) == 0;
            vm.prank(sender);
            token.forceApprove(PERMIT2, approves ? type(uint256).max : 0);
            if (consent == Consent.Permits) _addPermitOf(sender, i, address(token) == address(daiKind));
        }
    }

    /// @dev Valid, forged, or one that another account used before.
    function _addPermitOf(address sender, uint256 leg, bool isDaiKind) private {
        uint256 kind = _pick(4);
        bool canSign = keys[sender] != 0 && kind != 0;
        _addPermit(sender, leg, isDaiKind, canSign ? keys[sender] : keys[stranger]);
        permitKind = !canSign ? "forged permit" : isDaiKind ? "permit of the DAI kind" : "permit of EIP-2612";
        if (!canSign || kind != 1) return;
        ISweepBatch.TokenPermit memory p = permits[permits.length - 1];
        permitKind = "front-run permit";
        if (isDaiKind) daiKind.permit(sender, PERMIT2, p.valueOrNonce, p.deadline, true, p.v, p.r, p.s);
        else ITokenPermit(address(watching)).permit(sender, PERMIT2, p.valueOrNonce, p.deadline, p.v, p.r, p.s);
    }

    function _addPermit(address sender, uint256 leg, bool isDaiKind, uint256 key) private {
        uint256 deadline = block.timestamp + 900;
        bytes32 structHash;
        uint256 valueOrNonce = type(uint256).max;
        if (isDaiKind) {
            valueOrNonce = daiKind.nonces(sender);
            structHash = keccak256(abi.encode(daiKind.PERMIT_TYPEHASH(), sender, PERMIT2, valueOrNonce, deadline, true));
        } else {
            bytes32 typehash =
                keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
            structHash =
                keccak256(abi.encode(typehash, sender, PERMIT2, valueOrNonce, watching.nonces(sender), deadline));
        }
        bytes32 domain = isDaiKind ? daiKind.DOMAIN_SEPARATOR() : watching.DOMAIN_SEPARATOR();
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, keccak256(abi.encodePacked(hex"1901", domain, structHash)));
        permits.push(ISweepBatch.TokenPermit(leg, isDaiKind, valueOrNonce, deadline, v, r, s));
    }

    function _permitForUnknownLeg(uint256 leg) private {
        permits.push(ISweepBatch.TokenPermit(leg, false, 0, 0, 0, 0, 0));
    }
}
