// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ERC7739} from "@openzeppelin/contracts/utils/cryptography/signers/draft-ERC7739.sol";
import {SignerEIP7702} from "@openzeppelin/contracts/utils/cryptography/signers/SignerEIP7702.sol";
import {BatchAccount} from "../src/simulation/BatchAccount.sol";

/// @title NestingBatchAccount
/// @notice A batch account that accepts what the account's key signed of typed data nested in its own (ERC-7739).
contract NestingBatchAccount is BatchAccount, ERC7739, SignerEIP7702 {
    constructor() EIP712("NestingBatchAccount", "1") {}
}
