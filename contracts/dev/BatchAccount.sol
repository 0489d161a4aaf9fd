// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// @title BatchAccount
/// @notice What an account delegates to (EIP-7702) in order to make several calls in one transaction.
contract BatchAccount {
    struct Call {
        address to;
        bytes data;
    }

    error NotTheAccount(address sender);

    function execute(Call[] calldata calls) external {
        if (msg.sender != address(this)) revert NotTheAccount(msg.sender);
        for (uint256 i = 0; i < calls.length; ++i) {
            Address.functionCall(calls[i].to, calls[i].data);
        }
    }
}
