// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IPermit2
/// @notice The one function of Uniswap's Permit2 that a sweep calls: a batch transfer under a single signature, which
/// also covers a witness with the terms that the user agreed to.
interface IPermit2 {
    /// @param token The token to transfer.
    /// @param amount The maximum amount, in the token's smallest unit.
    struct TokenPermissions {
        address token;
        uint256 amount;
    }

    /// @param permitted The tokens and maximum amounts that may be transferred.
    /// @param nonce A single-use value in the owner's nonce bitmap.
    /// @param deadline The last Unix timestamp at which the signature is valid.
    struct PermitBatchTransferFrom {
        TokenPermissions[] permitted;
        uint256 nonce;
        uint256 deadline;
    }

    /// @param to The recipient of the token at the same index.
    /// @param requestedAmount The amount to transfer, at most the permitted one.
    struct SignatureTransferDetails {
        address to;
        uint256 requestedAmount;
    }

    /// @notice Transfers the owner's tokens if the owner signed the permit with the caller as spender, and the witness.
    /// @param permit The permit that the owner signed.
    /// @param transferDetails The recipient and amount of each token, in the order of `permit.permitted`.
    /// @param owner The signer, whose tokens are transferred.
    /// @param witness The EIP-712 struct hash of the additional data that the owner signed.
    /// @param witnessTypeString The rest of the signed type string, starting at the witness member.
    /// @param signature 64 or 65 bytes, or whatever the owner's code accepts under EIP-1271.
    function permitWitnessTransferFrom(
        PermitBatchTransferFrom memory permit,
        SignatureTransferDetails[] calldata transferDetails,
        address owner,
        bytes32 witness,
        string calldata witnessTypeString,
        bytes calldata signature
    ) external;
}
