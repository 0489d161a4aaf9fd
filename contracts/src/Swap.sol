// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IVenueList} from "./interfaces/IVenueList.sol";

/// @dev How a leg or the last hop is swapped: a word of an itinerary. From the lowest bit, 160 are the receiver of the
/// token, which is the pool if there is one. The next 64 describe the pool's venue: 8 the kind (zero: no pool), 8 the
/// salt rule, 16 the V2 fee in basis points, 32 the selector of the callback; this is the first word in which
/// `IVenueList.Venue` is stored, with the pool in the place of the deployer. Then come 1 for token 0 to token 1, 1 for
/// skippable, and 30 for the limit of the price: 22 of a number, and 8 that say by how many bits it is shifted to the left.
type Swap is uint256;

using SwapWord for Swap global;

/// @title SwapWord
/// @notice Packs and unpacks a swap.
library SwapWord {
    uint256 private constant KIND = 160;
    uint256 private constant SALT_RULE = 168;
    uint256 private constant FEE_BPS = 176;
    uint256 private constant ZERO_FOR_ONE = 224;
    uint256 private constant IS_SKIPPABLE = 225;
    uint256 private constant PRICE_LIMIT = 226;
    uint256 private constant PRICE_LIMIT_SHIFT = 248;
    uint256 private constant PRICE_LIMIT_MASK = (1 << 22) - 1;
    uint160 private constant LOWEST_SQRT_PRICE = 4295128739 + 1; // TickMath.MIN_SQRT_RATIO + 1
    uint160 private constant HIGHEST_SQRT_PRICE = 1461446703485210103287273052203988822378723970342 - 1;
    uint256 private constant V2 = uint8(IVenueList.PoolKind.V2);

    /// @dev A leg whose token is sent to `account` and not swapped in a pool of its own.
    function toReceiver(address account) internal pure returns (Swap) {
        return Swap.wrap(uint160(account));
    }

    /// @dev Puts one of a venue's pools in the place of the deployer. Of the limit, the lowest 30 bits count.
    function inPool(Swap venue, address pool, bool isZeroForOne, bool skippable, uint256 limit)
        internal
        pure
        returns (Swap word)
    {
        assembly ("memory-safe") {
            let flags := or(shl(ZERO_FOR_ONE, isZeroForOne), shl(IS_SKIPPABLE, skippable))
            word := or(or(shl(KIND, shr(KIND, venue)), pool), or(flags, shl(PRICE_LIMIT, limit)))
        }
    }

    function receiver(Swap self) internal pure returns (address) {
        return address(uint160(Swap.unwrap(self)));
    }

    function hasPool(Swap self) internal pure returns (bool) {
        return uint8(Swap.unwrap(self) >> KIND) != 0;
    }

    function isV2(Swap self) internal pure returns (bool) {
        return uint8(Swap.unwrap(self) >> KIND) == V2;
    }

    function hasSaltRule(Swap self, IVenueList.SaltRule rule) internal pure returns (bool) {
        return uint8(Swap.unwrap(self) >> SALT_RULE) == uint8(rule);
    }

    function feeBps(Swap self) internal pure returns (uint256) {
        return uint16(Swap.unwrap(self) >> FEE_BPS);
    }

    function zeroForOne(Swap self) internal pure returns (bool) {
        return Swap.unwrap(self) >> ZERO_FOR_ONE & 1 != 0;
    }

    function isSkippable(Swap self) internal pure returns (bool) {
        return Swap.unwrap(self) >> IS_SKIPPABLE & 1 != 0;
    }

    /// @dev The square root of the price at which the pool stops, with 96 binary places; without one the whole range.
    function sqrtPriceLimit(Swap self) internal pure returns (uint256 limit) {
        assembly ("memory-safe") {
            limit := shl(shr(PRICE_LIMIT_SHIFT, self), and(shr(PRICE_LIMIT, self), PRICE_LIMIT_MASK))
        }
        if (limit == 0) limit = zeroForOne(self) ? LOWEST_SQRT_PRICE : HIGHEST_SQRT_PRICE;
    }
}

/// @dev The only callback that is accepted now: a swap of which receiver, kind and callback are kept, with the index of
/// its leg in the place of the salt rule, and the set of legs skipped so far in the upper 32 bits. Zero outside sweeps.
type Awaited is uint256;

using AwaitedWord for Awaited global;

/// @title AwaitedWord
/// @notice Packs and unpacks what a callback is compared with.
library AwaitedWord {
    uint256 private constant KIND = 160;
    uint256 private constant INDEX = 168;
    uint256 private constant CALLBACK = 192;
    uint256 private constant SKIPPED = 224;
    uint256 private constant KEPT = (1 << INDEX) - 1 | 0xffffffff << CALLBACK;
    uint256 private constant V2 = uint8(IVenueList.PoolKind.V2);
    /// @dev The index of no leg.
    uint256 private constant DONE = 0xff;

    function expect(Swap swap, uint256 leg, uint256 legsSkipped) internal pure returns (Awaited) {
        return Awaited.wrap((Swap.unwrap(swap) & KEPT) | leg << INDEX | legsSkipped << SKIPPED);
    }

    /// @dev No callback any more, because the tokens were transferred: no call comes from address zero.
    function done(uint256 legsSkipped) internal pure returns (Awaited) {
        return Awaited.wrap(DONE << INDEX | legsSkipped << SKIPPED);
    }

    function isDone(Awaited self) internal pure returns (bool) {
        return index(self) == DONE;
    }

    function isFrom(Awaited self, address sender, bytes4 selector) internal pure returns (bool) {
        uint256 word = Awaited.unwrap(self);
        return address(uint160(word)) == sender && uint32(word >> CALLBACK) == uint32(selector);
    }

    function isV2(Awaited self) internal pure returns (bool) {
        return uint8(Awaited.unwrap(self) >> KIND) == V2;
    }

    function index(Awaited self) internal pure returns (uint256) {
        return uint8(Awaited.unwrap(self) >> INDEX);
    }

    function skipped(Awaited self) internal pure returns (uint256) {
        return Awaited.unwrap(self) >> SKIPPED;
    }
}
