// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Reverts
/// @notice Reads and passes on the reasons of failed calls.
library Reverts {
    /// @dev What the last call returned.
    function returned() internal pure returns (bytes memory data) {
        assembly ("memory-safe") {
            data := mload(0x40)
            mstore(data, returndatasize())
            returndatacopy(add(data, 0x20), 0, returndatasize())
            mstore(0x40, and(add(add(data, returndatasize()), 0x3f), not(0x1f)))
        }
    }

    /// @dev Reverts with exactly this reason.
    function raise(bytes memory reason) internal pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }
}
