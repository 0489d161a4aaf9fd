// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC7821} from "@openzeppelin/contracts/account/extensions/draft-ERC7821.sol";

/// @title BatchAccount
/// @notice The least that an account needs to make several calls in one transaction to itself (ERC-7821). A trial puts
/// this code at the address of a user whose wallet batches in a way that is not known; accounts of the local chain
/// delegate to it (EIP-7702).
contract BatchAccount is ERC7821 {}
