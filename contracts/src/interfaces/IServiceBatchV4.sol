// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "./ISweepBatch.sol";

/// @title IServiceBatchV4
/// @notice The rollback path: sweeps many tokens of a user into one output and takes one platform fee, which is configured here;
/// the partner's part of it is accounted for elsewhere. The user signs the outcome (a Permit2 witness) and nobody signs the
/// route: a page could send legs that bring the output past the fee, which harms nobody but us and is accepted here.
interface IServiceBatchV4 is ISweepBatch {
    /// @notice What the user signs beside the tokens: the promise that the sweep must keep.
    /// @param outputToken What the user gets; `NATIVE` for the chain's coin.
    /// @param minUserOutput The least that the user's balance of it must grow by, in its smallest unit.
    /// @param feeBps The fee, in basis points of the gross output; must be the configured one.
    /// @param sweepRef The service's name for the sweep, once per user.
    struct SweepOrderV4 {
        address outputToken;
        uint256 minUserOutput;
        uint16 feeBps;
        bytes32 sweepRef;
    }

    /// @notice A sweep ran. `grossOutput` = `userAmount` + `fee`, all in the output token's smallest unit.
    /// @param sweepRef The order's; one event a user and reference.
    /// @param user Whose tokens were swept, and who was paid `userAmount`.
    /// @param outputToken What was paid; `NATIVE` for the chain's coin.
    /// @param tokenCount How many tokens were swept.
    /// @param grossOutput What the contract's balance of the output grew by.
    /// @param fee The fee, rounded down.
    /// @param userAmount The rest of the gross output.
    event SweepExecutedV4(
        bytes32 indexed sweepRef,
        address indexed user,
        address outputToken,
        uint256 tokenCount,
        uint256 grossOutput,
        uint256 fee,
        uint256 userAmount
    );

    /// @notice Sweeps take this fee for this recipient from now on.
    event FeeChanged(uint16 feeBps, address indexed feeRecipient);

    /// @notice The user signed another fee than the configured one.
    error FeeMismatch(uint16 orderedBps, uint16 configuredBps);
    /// @notice The user swept under this reference before.
    error SweepRefAlreadyUsed(address user, bytes32 sweepRef);

    /// @notice Pulls the sender's tokens, runs the legs, and pays the user and the fee recipient out of what the output balance
    /// really grew by. All of it happens or none of it does.
    /// @dev Emits `SweepExecutedV4`, and `PaidWrapped` for a fee recipient that does not take the native coin. Reverts with the
    /// errors of this interface and of `ISweepBatch`, or with those of Permit2 and the tokens.
    /// @param legs The route, 1 to `MAX_LEGS` of them, one a token.
    /// @param order The promise to the user; the witness of the Permit2 signature.
    /// @param permitNonce The nonce of the Permit2 permit.
    /// @param permitDeadline The last second, as Unix time, at which the Permit2 permit is good.
    /// @param permitSignature The user's, over the Permit2 permit for exactly the tokens and amounts of `legs` with this contract
    /// as spender and `order` as witness: 64 or 65 bytes, or EIP-1271.
    function sweep(
        Leg[] calldata legs,
        SweepOrderV4 calldata order,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice Sets the platform fee and who gets it. Orders signed for another fee do not run any more.
    /// @dev Restricted, and meant to be delayed. Reverts with `TotalFeeAboveCap` or `InvalidRecipient`. Emits `FeeChanged`.
    /// @param newFeeBps The fee, in basis points of the gross output.
    /// @param newFeeRecipient Who gets it; may be zero if the fee is.
    function setFee(uint16 newFeeBps, address newFeeRecipient) external;

    /// @notice The platform fee, in basis points of the gross output.
    function feeBps() external view returns (uint16);

    /// @notice Who gets the platform fee.
    function feeRecipient() external view returns (address);

    /// @notice Whether this user swept under this reference, so that it can't be used again.
    /// @param user The sender of the sweep.
    /// @param sweepRef The reference of the order.
    function isSweepRefUsed(address user, bytes32 sweepRef) external view returns (bool);

    /// @notice The EIP-712 struct hash of an order, which is the witness of the Permit2 signature.
    /// @param order What the user is promised.
    function hashOrder(SweepOrderV4 calldata order) external pure returns (bytes32);

    /// @notice The end of the type string that the user's Permit2 signature covers, from the witness's member on.
    function WITNESS_TYPE_STRING() external view returns (string memory);
}
