// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {BatchAccount} from "../src/simulation/BatchAccount.sol";

/// @title SigningBatchAccount
/// @notice A batch account that accepts what the account's own key signed (EIP-1271).
contract SigningBatchAccount is BatchAccount {
    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        bool valid = ECDSA.recoverCalldata(digest, signature) == address(this);
        return valid ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}
