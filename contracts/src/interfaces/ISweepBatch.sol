// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IRouterAllowList} from "./IRouterAllowList.sol";

/// @title ISweepBatch
/// @notice What every batch contract shares: legs that turn many tokens into one through listed routers, and the pause. A
/// batch contract holds nothing between calls and gives no approval that outlives one.
interface ISweepBatch is IRouterAllowList {
    /// @notice One token on its way to the output.
    /// @param token What is taken from the user.
    /// @param amount How much of it, in its smallest unit.
    /// @param router Who swaps it; zero if `funding` is 2.
    /// @param funding How the router gets the tokens. 0, approved: this contract receives them and approves the router's
    /// spender for exactly what came. 1, prefunded: Permit2 moves them straight to the router, which spends its own balance.
    /// 2, none: the token is the wrapped coin, the output is the native coin, and nothing needs swapping.
    /// @param data The call to the router, its selector included; empty if `funding` is 2.
    struct Leg {
        address token;
        uint256 amount;
        address router;
        uint8 funding;
        bytes data;
    }

    /// @notice A fee recipient did not take `amount` of the native coin, so it was paid as much of the wrapped coin.
    /// @param recipient Who was to get the coin and got the token.
    /// @param amount How much, in the coin's smallest unit.
    event PaidWrapped(address indexed recipient, uint256 amount);

    /// @notice What lay idle here was sent to where its owner can have it.
    /// @param token The token, or `NATIVE` for the coin.
    /// @param to Who got it.
    /// @param amount How much, in its smallest unit.
    event Rescued(address indexed token, address indexed to, uint256 amount);

    /// @notice A sweep has at least one leg and at most `max`.
    error LegCountOutOfRange(uint256 count, uint256 max);
    /// @notice Leg `index` would take nothing.
    error ZeroLegAmount(uint256 index);
    /// @notice Two legs take the same token.
    error DuplicateToken(address token);
    /// @notice A leg would swap the token that the sweep pays out.
    error TokenIsOutput(address token);
    /// @notice Leg `index` names a funding that does not exist.
    error UnknownFunding(uint256 index, uint8 funding);
    /// @notice Leg `index` has funding 2, which is for the wrapped coin on its way to the native coin, without router or data.
    error UnroutedLegInvalid(uint256 index, address token, address router, uint256 dataLength);
    /// @notice Leg `index` has call data too short to hold a selector.
    error SelectorMissing(uint256 index, uint256 dataLength);
    /// @notice Leg `index` would call a function of a router that is not listed.
    error RouterNotAllowed(uint256 index, address router, bytes4 selector);
    /// @notice Leg `index` would fund a listed router in a way that its listing does not allow.
    error FundingNotAllowed(uint256 index, address router, bytes4 selector, uint8 funding);
    /// @notice Leg `index` would call a token of this sweep as its router.
    error RouterIsToken(uint256 index, address router);
    /// @notice Leg `index` would call an address without code, where a call succeeds and does nothing.
    error RouterWithoutCode(uint256 index, address router);
    /// @notice The call of leg `index` reverted with `reason`.
    error LegFailed(uint256 index, address router, bytes reason);
    /// @notice The user's balance of the output grew by less than the user signed for.
    error InsufficientUserOutput(uint256 received, uint256 minimum);
    /// @notice The output token refused to pay a fee recipient.
    error FeeTransferFailed(address token, address recipient, uint256 amount);
    /// @notice The user did not take the native coin.
    error NativeTransferFailed(address recipient, uint256 amount);
    /// @notice Coin comes in only by unwrapping.
    error UnexpectedNative(address sender, uint256 amount);
    /// @notice The fee is above the cap that nobody can lift.
    error TotalFeeAboveCap(uint16 totalFeeBps, uint16 capBps);
    /// @notice Nobody can be paid here: nobody at all, this contract, or the wrapped coin, which would keep what it is paid.
    error InvalidRecipient(address recipient);

    /// @notice Stops all sweeps.
    /// @dev Restricted, and meant to be immediate. Emits `Paused` with the caller.
    function pause() external;

    /// @notice Lets sweeps run again.
    /// @dev Restricted. Emits `Unpaused` with the caller.
    function unpause() external;

    /// @notice Sends away what was sent here by mistake. Between calls nothing here is anybody's, and no sweep ever spends it.
    /// @dev Restricted. Reverts with `InvalidRecipient`, `NativeTransferFailed` or whatever the token reverts with. Emits
    /// `Rescued`.
    /// @param token The token, or `NATIVE` for the coin.
    /// @param to Who gets it.
    /// @param amount How much of it, in its smallest unit.
    function rescue(address token, address to, uint256 amount) external;

    /// @notice The highest fee that anybody can set, in basis points of the gross output.
    function MAX_TOTAL_FEE_BPS() external view returns (uint16);

    /// @notice The most legs that a sweep may have.
    function MAX_LEGS() external view returns (uint256);

    /// @notice The address that stands for the native coin as an output.
    function NATIVE() external view returns (address);

    /// @notice The Permit2 through which tokens are pulled.
    function PERMIT2() external view returns (address);

    /// @notice The chain's coin as an ERC-20.
    function WRAPPED_NATIVE() external view returns (address);
}
