// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IRouterAllowList
/// @notice The allow list of what a sweep may call: pairs of router and function, each with the ways in which a leg may
/// fund the call. The whole list can be read, so that a deployment can be compared with its configuration.
interface IRouterAllowList {
    /// @notice An allow-listed pair of router and function, and its terms.
    /// @param router The contract that may be called.
    /// @param selector The function that may be called.
    /// @param fundingModes A bit set: 1 if legs may fund the call by approval, 2 if they may prefund it.
    /// @param spender The account that approved legs approve; zero if the pair may only be prefunded.
    struct AllowedRouter {
        address router;
        bytes4 selector;
        uint8 fundingModes;
        address spender;
    }

    /// @notice Emitted when a pair of router and function is listed, or its terms change.
    /// @param fundingModes As in `AllowedRouter`.
    /// @param spender As in `AllowedRouter`.
    event RouterAllowed(address indexed router, bytes4 indexed selector, uint8 fundingModes, address spender);

    /// @notice Emitted when a pair of router and function is removed from the list.
    event RouterRemoved(address indexed router, bytes4 indexed selector);

    /// @notice There is no code at `account`, where a contract is required.
    error NotAContract(address account);
    /// @notice The function is not an exact-input swap, so it can't be listed.
    error NotAnExactInputSwap(bytes4 selector);
    /// @notice This address can be neither a router nor a spender.
    error RouterForbidden(address account);
    /// @notice The set of funding modes is empty or has unknown bits.
    error InvalidFundingModes(uint8 fundingModes);
    /// @notice A spender must be given if, and only if, legs may fund the call by approval.
    error SpenderMismatch(uint8 fundingModes, address spender);
    /// @notice The pair is not on the list.
    error RouterNotListed(address router, bytes4 selector);

    /// @notice Lists a function of a router, or changes the terms of a listed one.
    /// @dev Restricted; assign it a delay, because a listed router can spend what users sweep. Reverts with
    /// `NotAnExactInputSwap`, `RouterForbidden` (Permit2, this contract, the wrapped native token), `NotAContract`,
    /// `InvalidFundingModes` or `SpenderMismatch`. Emits `RouterAllowed`.
    /// @param router The contract that legs may call.
    /// @param selector The function that legs may call, one of those in `SwapSelectors`.
    /// @param fundingModes A bit set: 1 approved, 2 prefunded.
    /// @param spender The account that approved legs approve; zero without that mode.
    function allowRouter(address router, bytes4 selector, uint8 fundingModes, address spender) external;

    /// @notice Removes a function of a router from the list.
    /// @dev Restricted; assign it no delay. Reverts with `RouterNotListed`. Emits `RouterRemoved`.
    /// @param router The contract of the pair.
    /// @param selector The function of the pair.
    function removeRouter(address router, bytes4 selector) external;

    /// @notice Returns the whole list, in no particular order.
    function allowedRouters() external view returns (AllowedRouter[] memory);

    /// @notice Returns the terms of one pair; `fundingModes` is zero if the pair is not listed.
    /// @param router The contract of the pair.
    /// @param selector The function of the pair.
    /// @return fundingModes A bit set: 1 approved, 2 prefunded.
    /// @return spender The account that approved legs approve.
    function routerRule(address router, bytes4 selector) external view returns (uint8 fundingModes, address spender);
}
