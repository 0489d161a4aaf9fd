// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Accounts
/// @notice Code that accounts delegate to (EIP-7702), or that contract wallets consist of.

/// @notice Executes a batch of calls for its own account, and knows no signatures.
contract BatchingAccount {
    error NotTheAccount(address caller);

    struct Call {
        address target;
        bytes data;
    }

    receive() external payable {}

    /// @dev For a delegated account the sender is the account itself; a contract wallet is its own sender in the tests.
    function execute(Call[] calldata calls) external {
        if (msg.sender != address(this)) revert NotTheAccount(msg.sender);
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory answer) = calls[i].target.call(calls[i].data);
            if (success) continue;
            assembly ("memory-safe") {
                revert(add(answer, 0x20), mload(answer))
            }
        }
    }
}

/// @notice Accepts what the account's own key signed.
contract SigningAccount {
    receive() external payable {}

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bool valid = ECDSA.recoverCalldata(digest, signature) == address(this);
        return valid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
