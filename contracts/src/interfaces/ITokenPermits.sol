// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title ITokenPermit
/// @notice The permit of EIP-2612.
interface ITokenPermit {
    /// @notice Sets the allowance of `spender` for `owner`'s tokens, if the owner signed this.
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        external;
}

/// @title IDaiPermit
/// @notice The permit of DAI and tokens like it, which are older than EIP-2612.
interface IDaiPermit {
    /// @notice Allows `spender` all of `holder`'s tokens, or none, if the holder signed this.
    function permit(
        address holder,
        address spender,
        uint256 nonce,
        uint256 expiry,
        bool allowed,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external;
}
