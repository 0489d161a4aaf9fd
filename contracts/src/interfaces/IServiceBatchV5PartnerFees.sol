// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "./ISweepBatch.sol";

/// @title IServiceBatchV5PartnerFees
/// @notice Sweeps a user's tokens into one and splits the fee on chain between partner and protocol. The user signs the
/// outcome (a Permit2 witness), the service signs the route and the fee (an EIP-712 authorization), and neither can
/// change what the other signed.
interface IServiceBatchV5PartnerFees is ISweepBatch {
    /// @notice The terms that the user signs as Permit2 witness, in addition to the tokens.
    /// @param outputToken The token that the user receives; `NATIVE` for the native coin.
    /// @param minUserOutput The minimum that the user receives, in the output token's smallest unit.
    /// @param totalFeeBps The total fee in basis points of the gross output.
    /// @param partnerId The partner that built the sweep.
    /// @param authorizationNonce The nonce of the fee authorization under which the sweep is executed.
    struct SweepOrder {
        address outputToken;
        uint256 minUserOutput;
        uint16 totalFeeBps;
        bytes32 partnerId;
        uint256 authorizationNonce;
    }

    /// @notice What the service signs: user, route, fee, fee recipients and deadline of a sweep.
    /// @param user The sender of the sweep, whose tokens it takes.
    /// @param partnerId The partner that built the sweep.
    /// @param partnerRecipient The recipient of the partner's share of the fee.
    /// @param protocolRecipient The recipient of the rest of the fee.
    /// @param outputToken The token that the sweep pays out; `NATIVE` for the native coin.
    /// @param totalFeeBps The total fee in basis points of the gross output.
    /// @param partnerShareBps The partner's share in basis points of the fee.
    /// @param nonce A single-use value.
    /// @param deadline The last Unix timestamp at which the authorization is valid.
    /// @param legsHash keccak256(abi.encode(legs)) of the route.
    struct FeeAuthorization {
        address user;
        bytes32 partnerId;
        address partnerRecipient;
        address protocolRecipient;
        address outputToken;
        uint16 totalFeeBps;
        uint16 partnerShareBps;
        uint256 nonce;
        uint256 deadline;
        bytes32 legsHash;
    }

    /// @notice Emitted once per nonce, when a sweep is executed. `grossOutput` = `userAmount` + `totalFee`, `totalFee`
    /// = `partnerFee` + `protocolFee`. Amounts are in the output token's smallest unit.
    /// @param nonce The authorization's nonce.
    /// @param user The account whose tokens were swept and that received `userAmount`.
    /// @param partnerId The partner that built the sweep.
    /// @param partnerRecipient The recipient of `partnerFee`.
    /// @param protocolRecipient The recipient of `protocolFee`.
    /// @param outputToken The token paid out; `NATIVE` for the native coin.
    /// @param tokenCount The number of tokens swept.
    /// @param grossOutput The increase of the contract's balance of the output token.
    /// @param totalFee The signed basis points of the gross output, rounded down.
    /// @param partnerFee The partner's share of the fee, rounded down.
    /// @param protocolFee The fee less the partner's share.
    /// @param userAmount The gross output less the fee.
    event SweepExecutedV5(
        uint256 indexed nonce,
        address indexed user,
        bytes32 indexed partnerId,
        address partnerRecipient,
        address protocolRecipient,
        address outputToken,
        uint256 tokenCount,
        uint256 grossOutput,
        uint256 totalFee,
        uint256 partnerFee,
        uint256 protocolFee,
        uint256 userAmount
    );

    /// @notice Emitted when a new fee signer is set.
    /// @param previousSigner The signer until now; zero at deployment and after a revocation.
    /// @param newSigner The signer from now on.
    /// @param previousGoodUntil The Unix timestamp from which the previous signer's authorizations are no longer valid.
    event FeeSignerChanged(address indexed previousSigner, address indexed newSigner, uint256 previousGoodUntil);

    /// @notice Emitted when a signer is revoked, which invalidates all its authorizations.
    event FeeSignerRevoked(address indexed signer);

    /// @notice Emitted when an authorization is cancelled.
    /// @param nonce The authorization's nonce. Either this event or `SweepExecutedV5` is emitted for a nonce, never
    /// both.
    /// @param by The account that cancelled it.
    event AuthorizationCancelled(uint256 indexed nonce, address indexed by);

    /// @notice The authorization is for another user.
    error WrongUser(address authorizedUser, address sender);
    /// @notice The authorization's deadline has passed.
    error AuthorizationExpired(uint256 deadline, uint256 timestamp);
    /// @notice The service signed another route.
    error LegsHashMismatch(bytes32 authorizedHash, bytes32 legsHash);
    /// @notice User and service signed different output tokens.
    error OutputTokenMismatch(address orderedToken, address authorizedToken);
    /// @notice User and service signed different fees.
    error TotalFeeMismatch(uint16 orderedBps, uint16 authorizedBps);
    /// @notice The partner's share is more than the whole fee.
    error PartnerShareAboveWhole(uint16 partnerShareBps);
    /// @notice User and service signed different partners.
    error PartnerMismatch(bytes32 orderedPartnerId, bytes32 authorizedPartnerId);
    /// @notice The user signed the nonce of another authorization.
    error NonceMismatch(uint256 orderedNonce, uint256 authorizedNonce);
    /// @notice The authorization is signed neither by the fee signer nor by a previous signer that is still valid.
    error InvalidAuthorizationSignature(address feeSigner, bytes32 digest);
    /// @notice The authorization has already been executed or cancelled.
    error NonceAlreadyUsed(uint256 nonce);
    /// @notice The new fee signer must not be zero.
    error ZeroFeeSigner();
    /// @notice The handover is longer than `maxSeconds`.
    error HandoverTooLong(uint256 handoverSeconds, uint256 maxSeconds);
    /// @notice The account is neither the current nor the previous fee signer.
    error NotAFeeSigner(address account);

    /// @notice Takes the sender's tokens, runs the legs, and pays the user, the partner and the protocol from the
    /// measured increase of the contract's output balance. Atomic.
    /// @dev Emits `SweepExecutedV5`, and `PaidWrapped` if a fee recipient rejects the native coin. Reverts with the
    /// errors of this interface and of `ISweepBatch`, or with those of Permit2 and the tokens.
    /// @param legs The route: 1 to `MAX_LEGS` legs, one per token.
    /// @param order The terms that the user signed; the witness of the Permit2 signature.
    /// @param authorization The route, fee and recipients that the service signed.
    /// @param authorizationSignature The fee signer's signature: 65 bytes with a low s, or whatever its code accepts
    /// under EIP-1271.
    /// @param permitNonce The nonce of the Permit2 permit.
    /// @param permitDeadline The last Unix timestamp at which the Permit2 permit is valid.
    /// @param permitSignature The user's signature of a Permit2 permit for exactly the tokens and amounts of `legs`,
    /// with this contract as spender and `order` as witness: 64 or 65 bytes, or EIP-1271.
    function sweep(
        Leg[] calldata legs,
        SweepOrder calldata order,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice Cancels an authorization that has not been executed.
    /// @dev Callable by the fee signer and by accounts that the authority allows, also while paused. Reverts with
    /// `NonceAlreadyUsed` if the authorization has been executed or cancelled. Emits `AuthorizationCancelled`.
    /// @param nonce The authorization's nonce.
    function cancelAuthorization(uint256 nonce) external;

    /// @notice Sets the fee signer. The current one becomes the previous signer and stays valid for a while, so that
    /// its latest authorizations can still be executed; an older previous signer is dropped.
    /// @dev Restricted; assign it a delay. Reverts with `ZeroFeeSigner` or `HandoverTooLong`. Emits `FeeSignerChanged`.
    /// @param newSigner The signer from now on.
    /// @param handoverSeconds How long the previous signer stays valid, starting with this call; at most
    /// `MAX_HANDOVER_SECONDS`, and zero to end it at once.
    function setFeeSigner(address newSigner, uint32 handoverSeconds) external;

    /// @notice Revokes the current or the previous signer with immediate effect. While there is no current signer, only
    /// authorizations of a previous signer that is still valid can be executed.
    /// @dev Restricted; assign it no delay. Reverts with `NotAFeeSigner`. Emits `FeeSignerRevoked`.
    /// @param signer The signer to revoke.
    function revokeFeeSigner(address signer) external;

    /// @notice The current fee signer; zero after a revocation.
    function feeSigner() external view returns (address);

    /// @notice Returns the previous fee signer and when its authorizations expire, which may be in the past.
    /// @return signer The previous signer; zero if there is none.
    /// @return goodUntil The Unix timestamp from which its authorizations are no longer valid.
    function previousFeeSigner() external view returns (address signer, uint64 goodUntil);

    /// @notice Returns whether the authorization with this nonce has been executed or cancelled.
    /// @param nonce The authorization's nonce.
    function isNonceUsed(uint256 nonce) external view returns (bool);

    /// @notice Returns keccak256(abi.encode(legs)), the hash of the route that the service signs. `sweep` hashes the
    /// legs as they are in calldata and therefore accepts only the canonical ABI encoding, which is the one that all
    /// encoders produce.
    /// @param legs The route.
    function hashLegs(Leg[] calldata legs) external pure returns (bytes32);

    /// @notice Returns the EIP-712 digest that the fee signer signs, for this chain and this contract.
    /// @param authorization The authorization to hash.
    function hashAuthorization(FeeAuthorization calldata authorization) external view returns (bytes32);

    /// @notice Returns the EIP-712 struct hash of an order, which is the witness of the Permit2 signature.
    /// @param order The terms that the user signs.
    function hashOrder(SweepOrder calldata order) external pure returns (bytes32);

    /// @notice The end of the type string that the user's Permit2 signature covers, starting at the witness member.
    function WITNESS_TYPE_STRING() external view returns (string memory);

    /// @notice The maximum time that a previous signer can stay valid after a handover.
    function MAX_HANDOVER_SECONDS() external view returns (uint32);
}
