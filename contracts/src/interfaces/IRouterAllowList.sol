// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IRouterAllowList
/// @notice The list of what a sweep may call: pairs of router and function, each with the ways in which a leg may fund it. It is
/// readable as a whole, so that a chain can be compared with what was meant to be on it.
interface IRouterAllowList {
    /// @notice A listed pair of router and function, and what a leg may do with it.
    /// @param router The contract that may be called.
    /// @param selector The function of it that may be called.
    /// @param fundingModes A set of bits: 1 if legs may fund it by approval, 2 if they may prefund it.
    /// @param spender Who is approved for approved legs; zero if the pair may only be prefunded.
    struct AllowedRouter {
        address router;
        bytes4 selector;
        uint8 fundingModes;
        address spender;
    }

    /// @notice A pair of router and function was listed, or its terms changed.
    /// @param fundingModes As in `AllowedRouter`.
    /// @param spender As in `AllowedRouter`.
    event RouterAllowed(address indexed router, bytes4 indexed selector, uint8 fundingModes, address spender);

    /// @notice A pair of router and function left the list.
    event RouterRemoved(address indexed router, bytes4 indexed selector);

    /// @notice A required contract has no code at `account`.
    error NotAContract(address account);
    /// @notice The function is none that swaps an exact input, so it may never be listed.
    error NotAnExactInputSwap(bytes4 selector);
    /// @notice This address may never be called as a router nor approved as a spender.
    error RouterForbidden(address account);
    /// @notice The set of funding modes is empty, or has bits that mean nothing.
    error InvalidFundingModes(uint8 fundingModes);
    /// @notice A spender is named exactly when legs may fund by approval.
    error SpenderMismatch(uint8 fundingModes, address spender);
    /// @notice The pair is not on the list.
    error RouterNotListed(address router, bytes4 selector);

    /// @notice Lists a function of a router, or changes the terms of a listed one.
    /// @dev Restricted, and meant to be delayed: what is listed here may spend what users sweep. Reverts with
    /// `NotAnExactInputSwap`, `RouterForbidden` (Permit2, this contract, the wrapped coin), `NotAContract`, `InvalidFundingModes`
    /// or `SpenderMismatch`. Emits `RouterAllowed`.
    /// @param router The contract that legs may call.
    /// @param selector The function of it, one of those in `SwapSelectors`.
    /// @param fundingModes A set of bits: 1 approved, 2 prefunded.
    /// @param spender Who is approved for approved legs; zero without that mode.
    function allowRouter(address router, bytes4 selector, uint8 fundingModes, address spender) external;

    /// @notice Takes a function of a router off the list.
    /// @dev Restricted, and meant to be immediate. Reverts with `RouterNotListed`. Emits `RouterRemoved`.
    /// @param router The contract of the pair.
    /// @param selector The function of the pair.
    function removeRouter(address router, bytes4 selector) external;

    /// @notice The whole list of what legs may call, in no particular order.
    function allowedRouters() external view returns (AllowedRouter[] memory);

    /// @notice The terms of one pair; zero modes if it is not listed.
    /// @param router The contract of the pair.
    /// @param selector The function of the pair.
    /// @return fundingModes A set of bits: 1 approved, 2 prefunded.
    /// @return spender Who is approved for approved legs.
    function routerRule(address router, bytes4 selector) external view returns (uint8 fundingModes, address spender);
}
