// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IServiceBatchV5PartnerFees} from "./interfaces/IServiceBatchV5PartnerFees.sol";
import {SweepBatch} from "./SweepBatch.sol";

/// @title ServiceBatchV5PartnerFees
/// @notice Runs a sweep that the user and the service both signed, and splits the fee on chain.
contract ServiceBatchV5PartnerFees is IServiceBatchV5PartnerFees, EIP712, SweepBatch {
    /// @dev Who gets how much of the gross output, in the output token's smallest unit.
    struct Split {
        uint256 totalFee;
        uint256 partnerFee;
        uint256 protocolFee;
        uint256 userAmount;
    }

    /// @dev One storage slot, read only when the current signer did not sign.
    struct PreviousSigner {
        address account;
        uint64 goodUntil;
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    uint32 public constant MAX_HANDOVER_SECONDS = 1 days;

    bytes32 private constant FEE_AUTHORIZATION_TYPEHASH = keccak256(
        "FeeAuthorization(address user,bytes32 partnerId,address partnerRecipient,address protocolRecipient,address outputToken,uint16 totalFeeBps,uint16 partnerShareBps,uint256 nonce,uint256 deadline,bytes32 legsHash)"
    );
    uint256 private constant FEE_AUTHORIZATION_SIZE = 10 * 32;
    uint256 private constant SWEEP_ORDER_SIZE = 5 * 32;
    bytes32 private constant SWEEP_ORDER_TYPEHASH = keccak256(
        "SweepOrder(address outputToken,uint256 minUserOutput,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce)"
    );
    /// @inheritdoc IServiceBatchV5PartnerFees
    string public constant WITNESS_TYPE_STRING =
        "SweepOrder witness)SweepOrder(address outputToken,uint256 minUserOutput,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce)TokenPermissions(address token,uint256 amount)";

    /// @inheritdoc IServiceBatchV5PartnerFees
    /// @dev Shares a storage slot with the pause flag, which ends SweepBatch's storage: one cold read serves both checks. This is
    /// why SweepBatch is the last of the bases.
    address public feeSigner;
    PreviousSigner private _previousSigner;

    /// @dev 256 nonces a word: the service issues them in sequence, so most sweeps write a slot that is not zero any more.
    mapping(uint256 word => uint256 usedBits) private _nonceBitmap;

    constructor(address authority, address permit2, address wrappedNative, address initialFeeSigner)
        SweepBatch(authority, permit2, wrappedNative)
        EIP712("ServiceBatchV5PartnerFees", "5")
    {
        _setFeeSigner(initialFeeSigner, 0);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function sweep(
        Leg[] calldata legs,
        SweepOrder calldata order,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external nonReentrant whenNotPaused {
        _checkAuthorization(legs, authorization, authorizationSignature);
        _checkOrder(order, authorization);
        _useNonce(authorization.nonce);

        uint256 grossOutput = _runLegs(
            legs,
            order.outputToken,
            SignedPermit(permitNonce, permitDeadline, hashOrder(order), WITNESS_TYPE_STRING),
            permitSignature
        );

        _settle(order, authorization, legs.length, grossOutput);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function cancelAuthorization(uint256 nonce) external nonReentrant {
        if (msg.sender != feeSigner) _checkCanCall(msg.sender, msg.data);
        _useNonce(nonce);
        emit AuthorizationCancelled(nonce, msg.sender);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function setFeeSigner(address newSigner, uint32 handoverSeconds) external nonReentrant restricted {
        _setFeeSigner(newSigner, handoverSeconds);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function revokeFeeSigner(address signer) external nonReentrant restricted {
        bool isCurrent = signer != address(0) && signer == feeSigner;
        bool isPrevious = signer != address(0) && signer == _previousSigner.account;
        if (!isCurrent && !isPrevious) revert NotAFeeSigner(signer);
        if (isCurrent) delete feeSigner;
        if (isPrevious) delete _previousSigner;
        emit FeeSignerRevoked(signer);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function previousFeeSigner() external view returns (address signer, uint64 goodUntil) {
        return (_previousSigner.account, _previousSigner.goodUntil);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function hashLegs(Leg[] calldata legs) external pure returns (bytes32) {
        return _hashLegs(legs);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function isNonceUsed(uint256 nonce) external view returns (bool) {
        return _nonceBitmap[nonce >> 8] & (1 << (nonce & 0xff)) != 0;
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function hashAuthorization(FeeAuthorization calldata authorization) public view returns (bytes32) {
        uint256 offset;
        assembly ("memory-safe") {
            offset := authorization
        }
        return _hashTypedDataV4(_hashStruct(FEE_AUTHORIZATION_TYPEHASH, offset, FEE_AUTHORIZATION_SIZE));
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function hashOrder(SweepOrder calldata order) public pure returns (bytes32) {
        uint256 offset;
        assembly ("memory-safe") {
            offset := order
        }
        return _hashStruct(SWEEP_ORDER_TYPEHASH, offset, SWEEP_ORDER_SIZE);
    }

    /// @dev The service's word stands by itself: its own signature, for this sender, now, on this route, at a fee under the cap,
    /// to recipients that can be paid.
    function _checkAuthorization(
        Leg[] calldata legs,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature
    ) private view {
        if (authorization.user != msg.sender) {
            revert WrongUser(authorization.user, msg.sender);
        }
        // slither-disable-next-line timestamp - a deadline is by the chain's clock, to the second and no finer
        if (block.timestamp > authorization.deadline) {
            revert AuthorizationExpired(authorization.deadline, block.timestamp);
        }
        bytes32 legsHash = _hashLegs(legs);
        if (authorization.legsHash != legsHash) revert LegsHashMismatch(authorization.legsHash, legsHash);

        uint16 totalFeeBps = authorization.totalFeeBps;
        uint16 partnerShareBps = authorization.partnerShareBps;
        _checkFeeCap(totalFeeBps);
        if (partnerShareBps > BPS_DENOMINATOR) revert PartnerShareAboveWhole(partnerShareBps);
        _checkRecipient(authorization.partnerRecipient, totalFeeBps != 0 && partnerShareBps != 0);
        _checkRecipient(authorization.protocolRecipient, totalFeeBps != 0 && partnerShareBps != BPS_DENOMINATOR);

        bytes32 digest = hashAuthorization(authorization);
        if (!_isAuthorized(digest, authorizationSignature)) revert InvalidAuthorizationSignature(feeSigner, digest);
    }

    /// @dev Signed by the current signer, or by the previous one while it is still good.
    function _isAuthorized(bytes32 digest, bytes calldata signature) private view returns (bool) {
        // slither-disable-next-line unused-return - a signature in error recovers zero, which is no signer
        (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature);
        // slither-disable-next-line timestamp - a handover ends by the chain's clock, to the second and no finer
        return _isSignedBy(feeSigner, recovered, digest, signature)
            || (block.timestamp < _previousSigner.goodUntil
                && _isSignedBy(_previousSigner.account, recovered, digest, signature));
    }

    /// @dev `recovered` is zero if the signature is no key's, and a signer is zero if there is none. A signer with a key is not
    /// asked for its code, which is cheaper; code that delegates to others (EIP-7702) does not take the key's power away.
    function _isSignedBy(address signer, address recovered, bytes32 digest, bytes calldata signature)
        private
        view
        returns (bool)
    {
        if (signer == address(0)) return false;
        return signer == recovered || SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, signature);
    }

    /// @dev What the user signed says the same as what the service signed, wherever both speak.
    function _checkOrder(SweepOrder calldata order, FeeAuthorization calldata authorization) private pure {
        if (order.outputToken != authorization.outputToken) {
            revert OutputTokenMismatch(order.outputToken, authorization.outputToken);
        }
        if (order.totalFeeBps != authorization.totalFeeBps) {
            revert TotalFeeMismatch(order.totalFeeBps, authorization.totalFeeBps);
        }
        if (order.partnerId != authorization.partnerId) {
            revert PartnerMismatch(order.partnerId, authorization.partnerId);
        }
        if (order.authorizationNonce != authorization.nonce) {
            revert NonceMismatch(order.authorizationNonce, authorization.nonce);
        }
    }

    /// @dev Hashes the legs as they lie in the calldata, from their count to the end of the last one's data, behind the offset
    /// with which abi.encode begins. If that is the signed hash, those bytes are the canonical encoding of the signed legs, and
    /// reading legs from them, which is what this contract does, yields those legs and no others. Legs that were encoded in
    /// another way have another hash and are refused. The copy ends where memory was free and is forgotten.
    function _hashLegs(Leg[] calldata legs) private pure returns (bytes32 legsHash) {
        uint256 start;
        uint256 end;
        assembly ("memory-safe") {
            start := sub(legs.offset, 0x20)
            end := legs.offset
        }
        if (legs.length != 0) {
            bytes calldata lastData = legs[legs.length - 1].data;
            assembly ("memory-safe") {
                end := add(lastData.offset, and(add(lastData.length, 0x1f), not(0x1f)))
            }
        }
        uint256 length = end - start;
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, 0x20)
            calldatacopy(add(free, 0x20), start, length)
            legsHash := keccak256(free, add(length, 0x20))
        }
    }

    function _useNonce(uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 usedBits = _nonceBitmap[nonce >> 8];
        if (usedBits & bit != 0) revert NonceAlreadyUsed(nonce);
        _nonceBitmap[nonce >> 8] = usedBits | bit;
    }

    /// @dev Splits what the legs brought, pays it out, and tells.
    function _settle(
        SweepOrder calldata order,
        FeeAuthorization calldata authorization,
        uint256 tokenCount,
        uint256 grossOutput
    ) private {
        Split memory split = _split(grossOutput, authorization.totalFeeBps, authorization.partnerShareBps);
        _payOut(order, authorization, grossOutput, split);
        // slither-disable-next-line reentrancy-events - under the guard, no call can put an event between
        emit SweepExecutedV5(
            authorization.nonce,
            msg.sender,
            authorization.partnerId,
            authorization.partnerRecipient,
            authorization.protocolRecipient,
            authorization.outputToken,
            tokenCount,
            grossOutput,
            split.totalFee,
            split.partnerFee,
            split.protocolFee,
            split.userAmount
        );
    }

    /// @dev Every division rounds down, so the user gets what the fee leaves and the protocol what the partner's part leaves.
    function _split(uint256 grossOutput, uint16 totalFeeBps, uint16 partnerShareBps)
        private
        pure
        returns (Split memory split)
    {
        split.totalFee = Math.mulDiv(grossOutput, totalFeeBps, BPS_DENOMINATOR);
        split.partnerFee = Math.mulDiv(split.totalFee, partnerShareBps, BPS_DENOMINATOR);
        split.protocolFee = split.totalFee - split.partnerFee;
        split.userAmount = grossOutput - split.totalFee;
    }

    function _payOut(
        SweepOrder calldata order,
        FeeAuthorization calldata authorization,
        uint256 grossOutput,
        Split memory split
    ) private {
        address outputToken = order.outputToken;
        _unwrapIfNative(outputToken, grossOutput);
        _payFee(outputToken, authorization.partnerRecipient, split.partnerFee);
        _payFee(outputToken, authorization.protocolRecipient, split.protocolFee);
        _payUser(outputToken, split.userAmount, order.minUserOutput);
    }

    function _setFeeSigner(address newSigner, uint32 handoverSeconds) private {
        if (newSigner == address(0)) revert ZeroFeeSigner();
        if (handoverSeconds > MAX_HANDOVER_SECONDS) revert HandoverTooLong(handoverSeconds, MAX_HANDOVER_SECONDS);
        address previous = feeSigner;
        uint64 goodUntil = uint64(block.timestamp) + handoverSeconds;
        _previousSigner = PreviousSigner(previous, goodUntil);
        feeSigner = newSigner;
        emit FeeSignerChanged(previous, newSigner, goodUntil);
    }
}
