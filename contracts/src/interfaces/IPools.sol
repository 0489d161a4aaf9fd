// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IV3Pool
/// @notice The function of a Uniswap V3 pool that a sweep calls.
interface IV3Pool {
    /// @notice Sends the output to `recipient`, then calls the sender back to be paid the input.
    /// @param recipient The recipient of the output.
    /// @param zeroForOne Whether token 0 is swapped for token 1.
    /// @param amountSpecified The input, which is positive.
    /// @param sqrtPriceLimitX96 The price at which the swap ends, even if input remains.
    /// @param data What the callback is given.
    /// @return amount0 The change of the pool's balance of token 0.
    /// @return amount1 The change of the pool's balance of token 1.
    function swap(
        address recipient,
        bool zeroForOne,
        int256 amountSpecified,
        uint160 sqrtPriceLimitX96,
        bytes calldata data
    ) external returns (int256 amount0, int256 amount1);
}

/// @title IV2Pool
/// @notice The functions of a Uniswap V2 pair that a sweep calls.
interface IV2Pool {
    /// @notice Sends the outputs to `to`, calls it back if `data` is not empty, and reverts if it was not paid.
    /// @param amount0Out The output in token 0.
    /// @param amount1Out The output in token 1.
    /// @param to The recipient of the output.
    /// @param data What the callback is given.
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external;

    /// @notice Returns the balances that the price is computed from, and when they were last stored.
    function getReserves() external view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast);
}
