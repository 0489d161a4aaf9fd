// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IPermit2
/// @notice The one function of Uniswap's Permit2 that a sweep calls: many tokens moved under one signature that also covers
/// what the user is promised for them.
interface IPermit2 {
    /// @param token The token that may be moved.
    /// @param amount The most that may be moved of it, in its smallest unit.
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    /// @param permitted What may be moved, one entry a token.
    /// @param nonce A single-use value in the owner's bitmap.
    /// @param deadline The last second, as Unix time, at which the signature is good.
    struct PermitBatchTransferFrom {
        TokenPermissions[] permitted;
        uint256 nonce;
        uint256 deadline;
    }

    /// @param to Where the token of the same index goes.
    /// @param requestedAmount How much of it moves, at most what is permitted.
    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Moves the owner's tokens if the owner signed the permit, the caller as its spender, and the witness.
    /// @param permit What the owner signed.
    /// @param transferDetails Where each token goes, in the order of `permit.permitted`.
    /// @param owner Whose tokens move, and who signed.
    /// @param witness The EIP-712 struct hash of what else the owner signed.
    /// @param witnessTypeString The rest of the signed type string, from the witness's member on.
    /// @param signature 64 or 65 bytes, or whatever the owner's code accepts by EIP-1271.
    function permitWitnessTransferFrom(
        PermitBatchTransferFrom memory permit,
        SignatureTransferDetails[] calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}
