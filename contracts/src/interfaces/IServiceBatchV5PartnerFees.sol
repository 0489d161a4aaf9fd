// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "./ISweepBatch.sol";

/// @title IServiceBatchV5PartnerFees
/// @notice Sweeps a user's tokens into one and splits the fee on chain between partner and protocol. The user signs the
/// outcome (a Permit2 witness), the service signs the route and the fee (an EIP-712 authorization), and neither can
/// change what the other signed.
///
/// The witness is a `SweepOrder`: output token, floors, the number of legs that may be left out, fee, partner, and the
/// authorization's nonce. This contract takes it from the route and the authorization, so the two can't contradict
/// each other: a user who signed other terms did not sign this call.
interface IServiceBatchV5PartnerFees is ISweepBatch {
    /// @notice What the service signs: user, route, fee, fee recipients and deadline of a sweep.
    /// @param user The sender of the sweep, whose tokens it takes.
    /// @param partnerId The partner that built the sweep.
    /// @param partnerRecipient The recipient of the partner's share of the fee.
    /// @param protocolRecipient The recipient of the rest of the fee.
    /// @param outputToken The token that the sweep pays out; 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for the native coin.
    /// @param totalFeeBps The total fee in basis points of the gross output.
    /// @param partnerShareBps The partner's share in basis points of the fee.
    /// @param nonce A single-use value.
    /// @param deadline The last Unix timestamp at which the authorization is valid.
    /// @param legsHash keccak256(abi.encode(route)).
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
    /// @param outputToken The token paid out; 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for the native coin.
    /// @param tokenCount The number of tokens that the user signed, those left out included.
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
    /// @notice The partner's share is more than the whole fee.
    error PartnerShareAboveWhole(uint16 partnerShareBps);
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

    /// @notice Takes the sender's tokens with Permit2, runs the legs, and pays the user, the partner and the protocol
    /// from the measured increase of the contract's output balance. Atomic.
    /// @dev Emits `SweepExecutedV5`, `LegSkipped` for each leg that was left out, and `PaidWrapped` if a fee recipient
    /// rejects the native coin. Reverts with the errors of this interface and of `ISweepBatch`.
    /// @param route The way, which the service signed.
    /// @param authorization The fee and its recipients, which the service signed.
    /// @param authorizationSignature The fee signer's signature: 65 bytes with a low s, or whatever its code accepts
    /// under EIP-1271.
    /// @param permitNonce The nonce of the Permit2 permit.
    /// @param permitDeadline The last Unix timestamp at which the Permit2 permit is valid.
    /// @param permitSignature The user's signature of a Permit2 permit for exactly the tokens and amounts of the legs,
    /// with this contract as spender and the order as witness: 64 or 65 bytes, or EIP-1271.
    function sweep(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice As `sweep`, for tokens that the user has not approved for Permit2: their own permits do it. A permit that
    /// fails is ignored, because another account may have used it before; without an allowance, Permit2's transfer fails.
    /// @param permits The permits, in any order. They run after the last pool has fixed its price.
    function sweepWithPermits(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        TokenPermit[] calldata permits,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice As `sweep`, for accounts that batch their calls: the sender agrees by calling, and has approved this
    /// contract for the tokens in the same batch.
    function sweepAsCaller(
        Route calldata route,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature
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
    /// a day, and zero to end it at once.
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

    /// @notice Returns keccak256(abi.encode(route)), the hash of the route that the service signs. The route is hashed
    /// as it is in calldata, so only its canonical ABI encoding has this hash, which is the one that all encoders
    /// produce.
    /// @param route The route.
    function hashLegs(Route calldata route) external pure returns (bytes32);

    /// @notice Returns the EIP-712 digest that the fee signer signs, for this chain and this contract.
    /// @param authorization The authorization to hash.
    function hashAuthorization(FeeAuthorization calldata authorization) external view returns (bytes32);
}
