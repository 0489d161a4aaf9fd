// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @dev How a leg is to be swapped, in the bits of `ISweepBatch.Leg.hop`.
type Hop is uint256;

using HopBits for Hop global;

/// @title HopBits
/// @notice Reads the fields of a hop.
library HopBits {
    uint256 private constant VENUE = 24;
    uint256 private constant JOINED = 1 << 40;
    uint256 private constant SKIPPABLE = 1 << 41;
    uint256 private constant DROPPED = 1 << 42;
    uint256 private constant PRICE_LIMIT = 43;
    uint256 private constant PRICE_LIMIT_BITS = ((1 << 30) - 1) << PRICE_LIMIT;
    uint256 private constant LEAST = 128;
    uint256 private constant POOL_BITS = (1 << 40) - 1;

    function fee(Hop self) internal pure returns (uint24) {
        return uint24(Hop.unwrap(self));
    }

    /// @dev Zero without a pool.
    function venue(Hop self) internal pure returns (uint16) {
        return uint16(Hop.unwrap(self) >> VENUE);
    }

    function isJoined(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) & JOINED != 0;
    }

    function isSkippable(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) & SKIPPABLE != 0;
    }

    /// @dev The price at which a V3 pool stops, packed as in `Swap`, in the lowest 30 bits of the result; the bits above
    /// are to be ignored.
    function priceLimit(Hop self) internal pure returns (uint256) {
        return Hop.unwrap(self) >> PRICE_LIMIT;
    }

    /// @dev The least output of a joined pool leg, in the wrapped native token.
    function least(Hop self) internal pure returns (uint256) {
        return Hop.unwrap(self) >> LEAST;
    }

    function isDropped(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) & DROPPED != 0;
    }

    /// @dev Whether nothing else is said than that the leg is dropped.
    function isOnlyDropped(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) == DROPPED;
    }

    /// @dev Whether nothing else is said than that the leg joins the last hop.
    function isOnlyJoined(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) == JOINED;
    }

    function isEmpty(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) == 0;
    }

    /// @dev Whether nothing else is said than a pool.
    function isOnlyPool(Hop self) internal pure returns (bool) {
        return Hop.unwrap(self) & ~POOL_BITS == 0 && venue(self) != 0;
    }

    /// @dev Whether a pool leg has nothing in unused bits, and a least output only if it is joined.
    function isPoolLeg(Hop self) internal pure returns (bool) {
        uint256 rest = Hop.unwrap(self) & ~(POOL_BITS | JOINED | SKIPPABLE | PRICE_LIMIT_BITS);
        return isJoined(self) ? uint128(rest) == 0 : rest == 0;
    }
}
