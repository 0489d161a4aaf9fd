// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {EnumerableMap} from "@openzeppelin/contracts/utils/structs/EnumerableMap.sol";
import {IRouterAllowList} from "./interfaces/IRouterAllowList.sol";
import {SwapSelectors} from "./SwapSelectors.sol";

/// @title RouterAllowList
/// @notice The allow list of routers and functions that router legs may call. Its admin functions share the re-entrancy
/// guard with the sweeps of the derived contract, so nothing that a sweep calls can change the list.
abstract contract RouterAllowList is IRouterAllowList, AccessManaged, ReentrancyGuardTransient {
    using EnumerableMap for EnumerableMap.Bytes32ToAddressMap;

    /// @dev The spender of each pair of router and function.
    EnumerableMap.Bytes32ToAddressMap private _spenders;

    /// @inheritdoc IRouterAllowList
    function allowRouter(address router, bytes4 selector, address spender) external nonReentrant restricted {
        if (!SwapSelectors.isExactInputSwap(selector)) revert NotAnExactInputSwap(selector);
        _requireCallable(router);
        _requireCallable(spender);
        // slither-disable-next-line unused-return - false if the pair is already listed and only its spender changes
        _spenders.set(_pair(router, selector), spender);
        emit RouterAllowed(router, selector, spender);
    }

    /// @inheritdoc IRouterAllowList
    function removeRouter(address router, bytes4 selector) external nonReentrant restricted {
        if (!_spenders.remove(_pair(router, selector))) revert RouterNotListed(router, selector);
        emit RouterRemoved(router, selector);
    }

    /// @inheritdoc IRouterAllowList
    function allowedRouters() external view returns (AllowedRouter[] memory listed) {
        listed = new AllowedRouter[](_spenders.length());
        for (uint256 i = 0; i < listed.length; ++i) {
            (bytes32 pair, address spender) = _spenders.at(i);
            listed[i] = AllowedRouter(address(bytes20(pair)), bytes4(pair << 160), spender);
        }
    }

    /// @dev Zero if the pair is not listed.
    function _spenderOf(address router, bytes4 selector) internal view returns (address spender) {
        // slither-disable-next-line unused-return - the spender of a pair that is not listed is zero
        (, spender) = _spenders.tryGet(_pair(router, selector));
    }

    /// @dev Returns whether this address must never be a leg's router or spender.
    function _isForbiddenCallee(address account) internal view virtual returns (bool);

    function _requireCode(address account) internal view {
        if (account.code.length == 0) revert NotAContract(account);
    }

    function _requireCallable(address account) private view {
        if (_isForbiddenCallee(account)) revert RouterForbidden(account);
        _requireCode(account);
    }

    function _pair(address router, bytes4 selector) private pure returns (bytes32) {
        return bytes32(bytes20(router)) | (bytes32(selector) >> 160);
    }
}
