// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

// Includes OpenZeppelin's AccessManager in the build, so that the local world deploys the same one as production.
import {AccessManager} from "@openzeppelin/contracts/access/manager/AccessManager.sol";
