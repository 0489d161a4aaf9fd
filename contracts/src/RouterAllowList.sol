// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {IRouterAllowList} from "./interfaces/IRouterAllowList.sol";
import {SwapSelectors} from "./SwapSelectors.sol";

/// @title RouterAllowList
/// @notice The allow list of routers and functions that sweeps may call. Its admin functions share the re-entrancy
/// guard with the sweeps of the derived contract, so nothing that a sweep calls can change the list.
abstract contract RouterAllowList is IRouterAllowList, AccessManaged, ReentrancyGuardTransient {
    using EnumerableSet for EnumerableSet.Bytes32Set;

    /// @dev One storage slot, so that the first leg of a pair costs a single cold read.
    struct RouterRule {
        address spender;
        uint8 fundingModes;
    }

    uint8 internal constant FUNDING_APPROVED = 0;
    uint8 internal constant FUNDING_PREFUNDED = 1;
    uint8 internal constant FUNDING_NONE = 2;
    uint8 private constant APPROVED_MODE = uint8(1 << FUNDING_APPROVED);
    uint8 private constant ALL_MODES = uint8(1 << FUNDING_APPROVED | 1 << FUNDING_PREFUNDED);

    EnumerableSet.Bytes32Set private _listedPairs;
    mapping(bytes32 pair => RouterRule rule) private _rules;

    constructor(address authority) AccessManaged(authority) {
        _requireCode(authority);
    }

    /// @inheritdoc IRouterAllowList
    function allowRouter(address router, bytes4 selector, uint8 fundingModes, address spender)
        external
        nonReentrant
        restricted
    {
        if (!SwapSelectors.isExactInputSwap(selector)) revert NotAnExactInputSwap(selector);
        _requireCallable(router);
        if (fundingModes == 0 || fundingModes & ~ALL_MODES != 0) revert InvalidFundingModes(fundingModes);
        bool approvable = fundingModes & APPROVED_MODE != 0;
        if (approvable != (spender != address(0))) revert SpenderMismatch(fundingModes, spender);
        if (approvable) _requireCallable(spender);

        bytes32 pair = _pair(router, selector);
        // slither-disable-next-line unused-return - false if the pair is already listed and only its terms change
        _listedPairs.add(pair);
        _rules[pair] = RouterRule(spender, fundingModes);
        emit RouterAllowed(router, selector, fundingModes, spender);
    }

    /// @inheritdoc IRouterAllowList
    function removeRouter(address router, bytes4 selector) external nonReentrant restricted {
        bytes32 pair = _pair(router, selector);
        if (!_listedPairs.remove(pair)) revert RouterNotListed(router, selector);
        delete _rules[pair];
        emit RouterRemoved(router, selector);
    }

    /// @inheritdoc IRouterAllowList
    function allowedRouters() external view returns (AllowedRouter[] memory listed) {
        bytes32[] memory pairs = _listedPairs.values();
        listed = new AllowedRouter[](pairs.length);
        for (uint256 i = 0; i < pairs.length; ++i) {
            RouterRule memory rule = _rules[pairs[i]];
            listed[i] = AllowedRouter({
                router: address(bytes20(pairs[i])),
                selector: bytes4(pairs[i] << 160),
                fundingModes: rule.fundingModes,
                spender: rule.spender
            });
        }
    }

    /// @inheritdoc IRouterAllowList
    function routerRule(address router, bytes4 selector) external view returns (uint8 fundingModes, address spender) {
        return _rule(_pair(router, selector));
    }

    /// @dev Returns whether this address must never be a leg's router or spender.
    function _isForbiddenCallee(address account) internal view virtual returns (bool);

    function _rule(bytes32 pair) internal view returns (uint8 fundingModes, address spender) {
        RouterRule memory rule = _rules[pair];
        return (rule.fundingModes, rule.spender);
    }

    function _requireCode(address account) internal view {
        if (account.code.length == 0) revert NotAContract(account);
    }

    function _requireCallable(address account) private view {
        if (_isForbiddenCallee(account)) revert RouterForbidden(account);
        _requireCode(account);
    }

    function _pair(address router, bytes4 selector) internal pure returns (bytes32) {
        return bytes32(bytes20(router)) | (bytes32(selector) >> 160);
    }
}
