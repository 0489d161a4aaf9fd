// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// @title Hostile pools
/// @notice A venue whose pools do what a script says, and what all scripts have in common. The scripts are in
/// PoolScripts.sol.

/// @notice The storage of a pool, which its script uses, too.
abstract contract PoolState {
    address internal script;
    IERC20 internal tokenIn;
    IERC20 internal tokenOut;
    uint256 internal payout;
    /// @dev What its attempts at callbacks returned.
    bytes[] internal responses;
}

/// @notice A pool without constructor arguments, so that its address is as predictable as a real pool's. Every call runs
/// its script.
contract HostilePool is PoolState {
    function configure(address script_, IERC20 tokenIn_, IERC20 tokenOut_, uint256 payout_) external {
        (script, tokenIn, tokenOut, payout) = (script_, tokenIn_, tokenOut_, payout_);
    }

    function responseCount() external view returns (uint256) {
        return responses.length;
    }

    function response(uint256 index) external view returns (bytes memory) {
        return responses[index];
    }

    fallback() external {
        address target = script;
        assembly ("memory-safe") {
            let free := mload(0x40)
            calldatacopy(free, 0, calldatasize())
            let success := delegatecall(gas(), target, free, calldatasize(), 0, 0)
            returndatacopy(free, 0, returndatasize())
            if success { return(free, returndatasize()) }
            revert(free, returndatasize())
        }
    }
}

/// @notice Creates the pools of the hostile venue.
contract HostileFactory {
    function createPool(IERC20 tokenA, IERC20 tokenB, uint24 fee) external returns (HostilePool) {
        (IERC20 token0, IERC20 token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return new HostilePool{salt: keccak256(abi.encode(token0, token1, fee))}();
    }
}

/// @notice A pool that pays a fixed amount and demands to be paid the whole input, by both kinds of callback. Scripts
/// override what they do differently.
contract PoolScript is PoolState {
    using SafeERC20 for IERC20;

    error NotPaid();

    function swap(address recipient, bool, int256 amount, uint160, bytes calldata data)
        external
        virtual
        returns (int256, int256)
    {
        tokenOut.safeTransfer(recipient, payout);
        uint256 before = tokenIn.balanceOf(address(this));
        _serveV3(uint256(amount), data);
        if (tokenIn.balanceOf(address(this)) < before + uint256(amount)) revert NotPaid();
        return _deltas(int256(amount), -int256(payout));
    }

    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external virtual {
        tokenOut.safeTransfer(to, amount0Out + amount1Out);
        _serveV2(amount0Out, amount1Out, data);
    }

    /// @dev As if it had a million times what it pays.
    function getReserves() external view virtual returns (uint112 reserve0, uint112 reserve1, uint32) {
        (reserve0, reserve1) = (uint112(payout * 2_000 * 1e6), uint112(payout * 1e6));
        if (tokenIn > tokenOut) (reserve0, reserve1) = (reserve1, reserve0);
    }

    function _serveV3(uint256 amount, bytes memory data) internal virtual {
        _mustSucceed(_callBackV3(int256(amount), -int256(payout), data));
    }

    function _serveV2(uint256 amount0Out, uint256 amount1Out, bytes memory data) internal virtual {
        _mustSucceed(_callBack(_v2Call(amount0Out, amount1Out, data)));
    }

    function _callBackV3(int256 owed, int256 paid, bytes memory data) internal returns (bool) {
        return _callBack(_v3Call(owed, paid, data));
    }

    function _v3Call(int256 owed, int256 paid, bytes memory data) internal view returns (bytes memory) {
        (int256 amount0, int256 amount1) = _deltas(owed, paid);
        return abi.encodeWithSignature("uniswapV3SwapCallback(int256,int256,bytes)", amount0, amount1, data);
    }

    function _v2Call(uint256 amount0Out, uint256 amount1Out, bytes memory data) internal view returns (bytes memory) {
        return abi.encodeWithSignature(
            "uniswapV2Call(address,uint256,uint256,bytes)", msg.sender, amount0Out, amount1Out, data
        );
    }

    /// @dev Calls the contract that called this pool, and stores the answer.
    function _callBack(bytes memory call) internal returns (bool success) {
        bytes memory answer;
        (success, answer) = msg.sender.call(call);
        responses.push(answer);
    }

    function _mustSucceed(bool success) internal view {
        if (!success) _raise(responses[responses.length - 1]);
    }

    function _raise(bytes memory reason) internal pure {
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }

    function _deltas(int256 owed, int256 paid) internal view returns (int256 amount0, int256 amount1) {
        return tokenIn < tokenOut ? (owed, paid) : (paid, owed);
    }
}
