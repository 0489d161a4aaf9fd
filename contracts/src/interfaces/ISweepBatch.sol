// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IRouterAllowList} from "./IRouterAllowList.sol";

/// @title ISweepBatch
/// @notice What all batch contracts have in common: legs that swap many tokens into one through allow-listed routers,
/// and a pause. A batch contract holds no funds between calls and leaves no approval behind.
interface ISweepBatch is IRouterAllowList {
    /// @notice The swap of one token into the output token.
    /// @param token The token to take from the user.
    /// @param amount The amount to take, in the token's smallest unit.
    /// @param router The router that swaps it; zero if `funding` is 2.
    /// @param funding How the router is given the tokens. 0, approved: this contract receives them and approves the
    /// router's spender for exactly the amount received. 1, prefunded: Permit2 transfers them straight to the router,
    /// which spends its own balance. 2, none: the token is the wrapped native token, the output is the native coin, and
    /// no swap is needed.
    /// @param data The calldata for the router, including the selector; empty if `funding` is 2.
    struct Leg {
        address token;
        uint256 amount;
        address router;
        uint8 funding;
        bytes data;
    }

    /// @notice Emitted when a fee recipient rejects the native coin and is paid in the wrapped native token instead.
    /// @param recipient The fee recipient.
    /// @param amount The fee, in the native coin's smallest unit.
    event PaidWrapped(address indexed recipient, uint256 amount);

    /// @notice Emitted when idle funds are sent away.
    /// @param token The token, or `NATIVE` for the native coin.
    /// @param to The recipient.
    /// @param amount The amount, in the token's smallest unit.
    event Rescued(address indexed token, address indexed to, uint256 amount);

    /// @notice A sweep must have between one and `max` legs.
    error LegCountOutOfRange(uint256 count, uint256 max);
    /// @notice The amount of leg `index` is zero.
    error ZeroLegAmount(uint256 index);
    /// @notice Two legs have the same token.
    error DuplicateToken(address token);
    /// @notice A leg would swap the output token.
    error TokenIsOutput(address token);
    /// @notice The funding mode of leg `index` does not exist.
    error UnknownFunding(uint256 index, uint8 funding);
    /// @notice Leg `index` has funding 2, which requires the wrapped native token, the native coin as output, no router
    /// and no data.
    error UnroutedLegInvalid(uint256 index, address token, address router, uint256 dataLength);
    /// @notice The calldata of leg `index` is too short to contain a selector.
    error SelectorMissing(uint256 index, uint256 dataLength);
    /// @notice Leg `index` calls a router and function that are not listed.
    error RouterNotAllowed(uint256 index, address router, bytes4 selector);
    /// @notice Leg `index` funds a listed call in a way that its terms do not allow.
    error FundingNotAllowed(uint256 index, address router, bytes4 selector, uint8 funding);
    /// @notice The router of leg `index` is a token of this sweep.
    error RouterIsToken(uint256 index, address router);
    /// @notice The router of leg `index` has no code, so a call would succeed without doing anything.
    error RouterWithoutCode(uint256 index, address router);
    /// @notice The router call of leg `index` reverted with `reason`.
    error LegFailed(uint256 index, address router, bytes reason);
    /// @notice The user received less of the output token than the signed minimum.
    error InsufficientUserOutput(uint256 received, uint256 minimum);
    /// @notice The transfer of a fee in the output token failed.
    error FeeTransferFailed(address token, address recipient, uint256 amount);
    /// @notice The recipient rejected the native coin.
    error NativeTransferFailed(address recipient, uint256 amount);
    /// @notice Native coin is accepted from the wrapped native token only.
    error UnexpectedNative(address sender, uint256 amount);
    /// @notice The fee is above the fixed cap.
    error TotalFeeAboveCap(uint16 totalFeeBps, uint16 capBps);
    /// @notice The recipient must not be this contract, the wrapped native token or, if it is to be paid, the zero
    /// address.
    error InvalidRecipient(address recipient);

    /// @notice Pauses all sweeps.
    /// @dev Restricted; assign it no delay. Emits `Paused` with the caller.
    function pause() external;

    /// @notice Resumes sweeps.
    /// @dev Restricted. Emits `Unpaused` with the caller.
    function unpause() external;

    /// @notice Sends away funds that were sent here by mistake. Between calls this contract holds no user's funds, and
    /// sweeps never spend its idle balance.
    /// @dev Restricted. Reverts with `InvalidRecipient`, `NativeTransferFailed` or the token's own error. Emits
    /// `Rescued`.
    /// @param token The token, or `NATIVE` for the native coin.
    /// @param to The recipient.
    /// @param amount The amount, in the token's smallest unit.
    function rescue(address token, address to, uint256 amount) external;

    /// @notice The maximum fee in basis points of the gross output; it can't be changed.
    function MAX_TOTAL_FEE_BPS() external view returns (uint16);

    /// @notice The maximum number of legs in a sweep.
    function MAX_LEGS() external view returns (uint256);

    /// @notice The placeholder address for the native coin as output token.
    function NATIVE() external view returns (address);

    /// @notice The Permit2 contract that transfers the users' tokens.
    function PERMIT2() external view returns (address);

    /// @notice The chain's native coin as an ERC-20.
    function WRAPPED_NATIVE() external view returns (address);
}
