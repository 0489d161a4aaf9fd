// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IRouterAllowList
/// @notice The allow list of what a router leg may call: pairs of router and function. The whole list can be read, so
/// that a deployment can be compared with its configuration.
interface IRouterAllowList {
    /// @notice An allow-listed pair of router and function.
    /// @param router The contract that may be called.
    /// @param selector The function that may be called.
    /// @param spender The account that is approved for a leg's tokens during the call.
    struct AllowedRouter {
        address router;
        bytes4 selector;
        address spender;
    }

    /// @notice Emitted when a pair of router and function is listed, or its spender changes.
    /// @param spender As in `AllowedRouter`.
    event RouterAllowed(address indexed router, bytes4 indexed selector, address spender);

    /// @notice Emitted when a pair of router and function is removed from the list.
    event RouterRemoved(address indexed router, bytes4 indexed selector);

    /// @notice There is no code at `account`, where a contract is required.
    error NotAContract(address account);
    /// @notice The function is not an exact-input swap, so it can't be listed.
    error NotAnExactInputSwap(bytes4 selector);
    /// @notice This address can be neither a router nor a spender.
    error RouterForbidden(address account);
    /// @notice The pair is not on the list.
    error RouterNotListed(address router, bytes4 selector);

    /// @notice Lists a function of a router, or changes the spender of a listed one.
    /// @dev Restricted; assign it a delay, because a listed router can spend what users sweep. Reverts with
    /// `NotAnExactInputSwap`, `RouterForbidden` (Permit2, this contract, the wrapped native token) or `NotAContract`.
    /// Emits `RouterAllowed`.
    /// @param router The contract that legs may call.
    /// @param selector The function that legs may call, one of those in `SwapSelectors`.
    /// @param spender The account to approve for a leg's tokens.
    function allowRouter(address router, bytes4 selector, address spender) external;

    /// @notice Removes a function of a router from the list.
    /// @dev Restricted; assign it no delay. Reverts with `RouterNotListed`. Emits `RouterRemoved`.
    /// @param router The contract of the pair.
    /// @param selector The function of the pair.
    function removeRouter(address router, bytes4 selector) external;

    /// @notice Returns the whole list, in no particular order.
    function allowedRouters() external view returns (AllowedRouter[] memory);
}
