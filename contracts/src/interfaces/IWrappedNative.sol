// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title IWrappedNative
/// @notice The chain's coin as an ERC-20 (WETH9 and its kin), which sweeps use to measure and to pay the native coin.
interface IWrappedNative is IERC20 {
    /// @notice Turns the coin sent along into as much of the token.
    function deposit() external payable;

    /// @notice Turns `amount` of the caller's token back into the coin and sends it to the caller.
    function withdraw(uint256 amount) external;
}
