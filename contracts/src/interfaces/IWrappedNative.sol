// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title IWrappedNative
/// @notice The chain's native coin as an ERC-20 (WETH9 and compatible contracts). Sweeps into the native coin are
/// measured in it.
interface IWrappedNative is IERC20 {
    /// @notice Mints as much of the token to the caller as native coin is sent.
    function deposit() external payable;

    /// @notice Burns `amount` of the caller's token and sends the caller as much native coin.
    function withdraw(uint256 amount) external;
}
