// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IServiceBatchV5PartnerFees} from "./interfaces/IServiceBatchV5PartnerFees.sol";
import {Itinerary} from "./Itinerary.sol";
import {SweepBatch} from "./SweepBatch.sol";

/// @title ServiceBatchV5PartnerFees
/// @notice Executes sweeps that both the user and the service signed, and splits the fee on chain.
contract ServiceBatchV5PartnerFees is IServiceBatchV5PartnerFees, EIP712, SweepBatch {
    /// @dev How the gross output is split, in the output token's smallest unit.
    struct Split {
        uint256 totalFee;
        uint256 partnerFee;
        uint256 protocolFee;
        uint256 userAmount;
    }

    /// @dev One storage slot, read only if the current signer did not sign.
    struct PreviousSigner {
        address account;
        uint64 goodUntil;
    }

    uint32 private constant MAX_HANDOVER_SECONDS = 1 days;

    bytes32 private constant FEE_AUTHORIZATION_TYPEHASH = keccak256(
        "FeeAuthorization(address user,bytes32 partnerId,address partnerRecipient,address protocolRecipient,address outputToken,uint16 totalFeeBps,uint16 partnerShareBps,uint256 nonce,uint256 deadline,bytes32 legsHash)"
    );
    uint256 private constant FEE_AUTHORIZATION_SIZE = 10 * 32;
    bytes32 private constant SWEEP_ORDER_TYPEHASH = keccak256(
        "SweepOrder(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce)"
    );
    string private constant WITNESS_TYPE_STRING =
        "SweepOrder witness)SweepOrder(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce)TokenPermissions(address token,uint256 amount)";

    /// @inheritdoc IServiceBatchV5PartnerFees
    /// @dev Shares a storage slot with the pause flag, which is last in SweepBatch's storage: a single cold read loads
    /// both. For this reason SweepBatch is the last base contract.
    address public feeSigner;
    PreviousSigner private _previousSigner;

    /// @dev 256 nonces per word: the service issues nonces in sequence, so most sweeps write to a slot that is already
    /// nonzero.
    mapping(uint256 word => uint256 usedBits) private _nonceBitmap;

    constructor(address authority, address permit2, address wrappedNative, address initialFeeSigner)
        SweepBatch(authority, permit2, wrappedNative)
        EIP712("ServiceBatchV5PartnerFees", "5")
    {
        _setFeeSigner(initialFeeSigner, 0);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function sweep(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external nonReentrant whenNotPaused {
        Itinerary itinerary = _signedItinerary(route, _noPermits(), permitNonce, permitDeadline, permitSignature);
        _sweep(itinerary, route, authorization, authorizationSignature);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function sweepWithPermits(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        TokenPermit[] calldata permits,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external nonReentrant whenNotPaused {
        Itinerary itinerary = _signedItinerary(route, permits, permitNonce, permitDeadline, permitSignature);
        _sweep(itinerary, route, authorization, authorizationSignature);
    }

    /// @inheritdoc IServiceBatchV5PartnerFees
    function sweepAsCaller(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature
    ) external nonReentrant whenNotPaused {
        _sweep(_callersItinerary(route), route, authorization, authorizationSignature);
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
    function hashLegs(Route calldata route) external pure returns (bytes32) {
        return _hashRoute(route);
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

    function _hashOrder(Route calldata route, FeeAuthorization calldata authorization) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                SWEEP_ORDER_TYPEHASH,
                authorization.outputToken,
                _hashFloors(route.legs),
                route.maxSkipped,
                authorization.totalFeeBps,
                authorization.partnerId,
                authorization.nonce
            )
        );
    }

    function _sweep(
        Itinerary itinerary,
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature
    ) private {
        _checkAuthorization(route, authorization, authorizationSignature);
        _useNonce(authorization.nonce);
        (uint256 grossOutput, uint256 minimum) = _runLegs(
            itinerary,
            route,
            authorization.outputToken,
            authorization.totalFeeBps,
            authorization.nonce,
            _hashOrder(route, authorization)
        );
        Split memory split = _split(grossOutput, authorization.totalFeeBps, authorization.partnerShareBps);
        _payOut(authorization, grossOutput, split, minimum);
        // slither-disable-next-line reentrancy-events - the re-entrancy guard keeps other events of this contract out
        emit SweepExecutedV5(
            authorization.nonce,
            msg.sender,
            authorization.partnerId,
            authorization.partnerRecipient,
            authorization.protocolRecipient,
            authorization.outputToken,
            itinerary.count(),
            grossOutput,
            split.totalFee,
            split.partnerFee,
            split.protocolFee,
            split.userAmount
        );
    }

    function _witnessTypeString() internal pure override returns (string memory) {
        return WITNESS_TYPE_STRING;
    }

    /// @dev Reverts unless the service signed this authorization, for this sender and route, and its deadline, fee and
    /// recipients are valid.
    function _checkAuthorization(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature
    ) private view {
        if (authorization.user != msg.sender) {
            revert WrongUser(authorization.user, msg.sender);
        }
        // slither-disable-next-line timestamp - a deadline is compared with the chain's clock, to the second
        if (block.timestamp > authorization.deadline) {
            revert AuthorizationExpired(authorization.deadline, block.timestamp);
        }
        bytes32 legsHash = _hashRoute(route);
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

    /// @dev Returns whether the current signer signed, or the previous one while it is still valid.
    function _isAuthorized(bytes32 digest, bytes calldata signature) private view returns (bool) {
        // slither-disable-next-line unused-return - an invalid signature recovers zero, which is never a signer
        (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature);
        // slither-disable-next-line timestamp - a handover is compared with the chain's clock, to the second
        return _isSignedBy(feeSigner, recovered, digest, signature)
            || (block.timestamp < _previousSigner.goodUntil
                && _isSignedBy(_previousSigner.account, recovered, digest, signature));
    }

    /// @dev `recovered` is zero if no key is recovered, and `signer` is zero if there is none. A recovered key is
    /// accepted without looking at the signer's code, which is cheaper; an account that delegates to code (EIP-7702)
    /// can still sign with its key.
    function _isSignedBy(address signer, address recovered, bytes32 digest, bytes calldata signature)
        private
        view
        returns (bool)
    {
        if (signer == address(0)) return false;
        return signer == recovered || SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, signature);
    }

    /// @dev Hashes the route as it is in calldata, from its start to the end of the last router call's data, prefixed
    /// with the offset that abi.encode starts with. If the result is the signed hash, these bytes are the canonical
    /// encoding of the signed route, so decoding them, as this contract does, yields exactly that route. Any other
    /// encoding has another hash and is refused. The copy is placed in free memory without allocating it.
    function _hashRoute(Route calldata route) private pure returns (bytes32 legsHash) {
        RouterCall[] calldata calls = route.routerCalls;
        uint256 start;
        uint256 end;
        assembly ("memory-safe") {
            start := route
            end := calls.offset
        }
        if (calls.length != 0) {
            bytes calldata lastData = calls[calls.length - 1].data;
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

    /// @dev Fees round down: the user receives the remainder of the gross output, and the protocol the remainder of the
    /// fee.
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

    function _payOut(FeeAuthorization calldata authorization, uint256 grossOutput, Split memory split, uint256 minimum)
        private
    {
        address outputToken = authorization.outputToken;
        _unwrapIfNative(outputToken, grossOutput);
        _payFee(outputToken, authorization.partnerRecipient, split.partnerFee);
        _payFee(outputToken, authorization.protocolRecipient, split.protocolFee);
        _payUser(outputToken, split.userAmount, minimum);
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
