// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev What is not indexed of the event of an executed sweep, by which tests of both contracts read it.
struct Executed {
    address partnerRecipient;
    address protocolRecipient;
    address outputToken;
    uint256 tokenCount;
    uint256 grossOutput;
    uint256 totalFee;
    uint256 partnerFee;
    uint256 protocolFee;
    uint256 userAmount;
}
