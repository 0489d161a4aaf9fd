// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title OwnedWallet
/// @notice A contract wallet: its owner, who may be such a wallet too, makes calls through it and signs for it (EIP-1271).
contract OwnedWallet {
    struct Call {
        address to;
        bytes data;
    }

    address private immutable OWNER;

    error NotTheOwner(address sender);

    constructor(address owner) {
        OWNER = owner;
    }

    function execute(Call[] calldata calls) external {
        if (msg.sender != OWNER) revert NotTheOwner(msg.sender);
        for (uint256 i = 0; i < calls.length; ++i) {
            Address.functionCall(calls[i].to, calls[i].data);
        }
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bool valid = SignatureChecker.isValidSignatureNow(OWNER, digest, signature);
        return valid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
