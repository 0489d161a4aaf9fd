// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "./ISweepBatch.sol";

/// @title IServiceBatchV4
/// @notice The fallback: sweeps a user's tokens into one and takes a single platform fee, which is configured here; the
/// partner's share is accounted for off chain. The user signs the outcome (a Permit2 witness), and the route is not
/// signed. A frontend could therefore send legs that pay the user directly and avoid the fee, which costs only us and
/// is accepted here.
interface IServiceBatchV4 is ISweepBatch {
    /// @notice The terms that the user signs as Permit2 witness, in addition to the tokens, their floors and the number
    /// of legs that may be left out.
    /// @param outputToken The token that the user receives; 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for the native coin.
    /// @param feeBps The fee in basis points of the gross output; must equal the configured fee.
    /// @param sweepRef The service's reference of the sweep, unique per user.
    struct SweepOrderV4 {
        address outputToken;
        uint16 feeBps;
        bytes32 sweepRef;
    }

    /// @notice Emitted once per user and reference, when a sweep is executed. `grossOutput` = `userAmount` + `fee`.
    /// Amounts are in the output token's smallest unit.
    /// @param sweepRef The order's reference.
    /// @param user The account whose tokens were swept and that received `userAmount`.
    /// @param outputToken The token paid out; 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for the native coin.
    /// @param tokenCount The number of tokens that the user signed, those left out included.
    /// @param grossOutput The increase of the contract's balance of the output token.
    /// @param fee The platform fee, rounded down.
    /// @param userAmount The gross output less the fee.
    event SweepExecutedV4(
        bytes32 indexed sweepRef,
        address indexed user,
        address outputToken,
        uint256 tokenCount,
        uint256 grossOutput,
        uint256 fee,
        uint256 userAmount
    );

    /// @notice Emitted when the platform fee or its recipient is set.
    event FeeChanged(uint16 feeBps, address indexed feeRecipient);

    /// @notice The user signed a fee other than the configured one.
    error FeeMismatch(uint16 orderedBps, uint16 configuredBps);
    /// @notice The user has already swept under this reference.
    error SweepRefAlreadyUsed(address user, bytes32 sweepRef);

    /// @notice Takes the sender's tokens with Permit2, runs the legs, and pays the user and the fee recipient from the
    /// measured increase of the contract's output balance. Atomic.
    /// @dev Emits `SweepExecutedV4`, `LegSkipped` for each leg that was left out, and `PaidWrapped` if the fee recipient
    /// rejects the native coin. Reverts with the errors of this interface and of `ISweepBatch`.
    /// @param route The way.
    /// @param order The terms that the user signed.
    /// @param permitNonce The nonce of the Permit2 permit.
    /// @param permitDeadline The last Unix timestamp at which the Permit2 permit is valid.
    /// @param permitSignature The user's signature of a Permit2 permit for exactly the tokens and amounts of the legs,
    /// with this contract as spender and the order as witness: 64 or 65 bytes, or EIP-1271.
    function sweep(
        Route calldata route,
        SweepOrderV4 calldata order,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice As `sweep`, for tokens that the user has not approved for Permit2: their own permits do it. A permit that
    /// fails is ignored, because another account may have used it before; without an allowance, Permit2's transfer fails.
    /// @param permits The permits, in any order. They run after the last pool has fixed its price.
    function sweepWithPermits(
        Route calldata route,
        SweepOrderV4 calldata order,
        TokenPermit[] calldata permits,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice As `sweep`, for accounts that batch their calls: the sender agrees by calling, and has approved this
    /// contract for the tokens in the same batch.
    function sweepAsCaller(Route calldata route, SweepOrderV4 calldata order) external;

    /// @notice Sets the platform fee and its recipient. Orders signed for another fee can no longer be executed.
    /// @dev Restricted; assign it a delay. Reverts with `TotalFeeAboveCap` or `InvalidRecipient`. Emits `FeeChanged`.
    /// @param newFeeBps The fee in basis points of the gross output.
    /// @param newFeeRecipient The fee recipient; may be zero if the fee is.
    function setFee(uint16 newFeeBps, address newFeeRecipient) external;

    /// @notice The platform fee in basis points of the gross output.
    function feeBps() external view returns (uint16);

    /// @notice The recipient of the platform fee.
    function feeRecipient() external view returns (address);

    /// @notice Returns whether this user has already swept under this reference.
    /// @param user The sender of the sweep.
    /// @param sweepRef The order's reference.
    function isSweepRefUsed(address user, bytes32 sweepRef) external view returns (bool);
}
