// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {OpenMintToken} from "./Hostile.sol";

/// @title Hostile permit tokens
/// @notice A token whose permit is the attack.

/// @notice A token whose permit burns all its gas, reverts with given bytes, or makes a call.
contract HostilePermitToken is OpenMintToken {
    bool private burning;
    bytes private reason;
    address private target;
    bytes private data;
    uint256 private burned;
    /// @dev Why the call in its permit failed, if it did.
    bytes public answer;

    constructor() ERC20("Hostile permit", "HOSTILE") {}

    function burnGas() external {
        burning = true;
    }

    function failWith(bytes calldata reason_) external {
        reason = reason_;
    }

    function callInPermit(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    function permit(address owner, address spender, uint256 amount, uint256, uint8, bytes32, bytes32) external {
        while (burning) ++burned;
        bytes memory bytes_ = reason;
        if (bytes_.length != 0) {
            assembly ("memory-safe") {
                revert(add(bytes_, 0x20), mload(bytes_))
            }
        }
        _approve(owner, spender, amount);
        if (target == address(0)) return;
        (bool success, bytes memory returned) = target.call(data);
        answer = success ? bytes("") : returned;
    }
}
