// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

// Brings OpenZeppelin's AccessManager into the build, so that the local world can deploy the one that production uses.
import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
