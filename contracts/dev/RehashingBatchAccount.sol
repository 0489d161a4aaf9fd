// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {BatchAccount} from "../src/simulation/BatchAccount.sol";

/// @title RehashingBatchAccount
/// @notice A batch account that accepts what the account's key signed of a digest hashed with the account's address
/// (EIP-1271), so that no other account accepts it; a plain signature of the digest is refused.
contract RehashingBatchAccount is BatchAccount {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bool valid = ECDSA.recoverCalldata(boundDigest(digest), signature) == address(this);
        return valid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }

    function boundDigest(bytes32 digest) public view returns (bytes32) {
        return keccak256(abi.encode(digest, address(this)));
    }
}
