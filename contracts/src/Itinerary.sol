// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "./interfaces/ISweepBatch.sol";
import {Swap} from "./Swap.sol";

/// @dev The way of a sweep through its pools: a block of words in memory, at the address that the value is.
///
/// It travels with the sweep: each pool hands it to the callback from which the next pool is called. It has room in
/// front of it, so that the call of a pool is completed in place.
type Itinerary is uint256;

using ItineraryWords for Itinerary global;

/// @dev Where an itinerary has a leg: three words in memory, which are the token; the swap; the amount in the lower and
/// the least output in the upper half.
type PlannedLeg is uint256;

using PlannedLegWords for PlannedLeg global;

/// @title PlannedLegWords
/// @notice Writes and reads a leg of an itinerary.
library PlannedLegWords {
    function write(PlannedLeg self, address legToken, Swap legSwap, uint256 legAmount, uint256 legLeast) internal pure {
        assembly ("memory-safe") {
            mstore(self, legToken)
            mstore(add(self, 0x20), legSwap)
            mstore(add(self, 0x40), or(legAmount, shl(128, legLeast)))
        }
    }

    function next(PlannedLeg self) internal pure returns (PlannedLeg following) {
        assembly ("memory-safe") {
            following := add(self, 0x60)
        }
    }

    function token(PlannedLeg self) internal pure returns (address word) {
        assembly ("memory-safe") {
            word := mload(self)
        }
    }

    function swap(PlannedLeg self) internal pure returns (Swap word) {
        assembly ("memory-safe") {
            word := mload(add(self, 0x20))
        }
    }

    function amount(PlannedLeg self) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := and(mload(add(self, 0x40)), 0xffffffffffffffffffffffffffffffff)
        }
    }

    function least(PlannedLeg self) internal pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := shr(128, mload(add(self, 0x40)))
        }
    }
}

/// @title ItineraryWords
/// @notice Builds and reads an itinerary. After the words below come the legs, and the user's consent: nonce and deadline
/// of the Permit2 permit, the length of the signature, the signature padded to words, and seven words for each permit of
/// a token.
library ItineraryWords {
    // What the first word has, from these bits on. Numbers have 32 bits, so that no calldata is too long; flags have one.
    uint256 private constant COUNT = 0;
    uint256 private constant SIZE = 32; // in bytes
    uint256 private constant PERMITS = 64; // their number
    uint256 private constant BY_CALLER = 96; // 1: the sender consents by calling
    uint256 private constant HAS_LAST_HOP = 97;
    uint256 private constant MAX_SKIPPED = 128;
    uint256 private constant WRAPPED_LEG = 160; // index + 1 of the swept wrapped native token that joins; zero: none

    uint256 private constant USER = 0x20;
    uint256 private constant ID = 0x40;
    uint256 private constant WITNESS = 0x60;
    uint256 private constant LEGS = 0x80;
    uint256 private constant LEG_SIZE = 0x60;
    uint256 private constant CONSENT_HEAD_SIZE = 0x60;
    uint256 private constant PERMIT_SIZE = 0xe0;
    /// @dev Room in front: the call of a V3 pool up to its data, which is the longest.
    uint256 private constant HEADROOM = 0xe0;

    // ---------------------------------------------------------------- building

    /// @dev Allocates an itinerary of the sender for so many legs, to be paid for with Permit2.
    function signed(
        uint256 legs,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata signature,
        ISweepBatch.TokenPermit[] calldata permits
    ) internal view returns (Itinerary self) {
        uint256 signatureSize = (signature.length + 0x1f) & ~uint256(0x1f);
        uint256 consentAt = LEGS + LEG_SIZE * legs;
        uint256 permitsAt = consentAt + CONSENT_HEAD_SIZE + signatureSize;
        self = _allocate(permitsAt + PERMIT_SIZE * permits.length, legs | permits.length << PERMITS);
        assembly ("memory-safe") {
            let place := add(self, consentAt)
            mstore(place, permitNonce)
            mstore(add(place, 0x20), permitDeadline)
            mstore(add(place, 0x40), signature.length)
            calldatacopy(add(place, 0x60), signature.offset, signature.length)
            calldatacopy(add(self, permitsAt), permits.offset, mul(permits.length, PERMIT_SIZE))
        }
    }

    /// @dev Allocates an itinerary of the sender for so many legs, to be paid for from approvals of this contract.
    function byCaller(uint256 legs) internal view returns (Itinerary) {
        return _allocate(LEGS + LEG_SIZE * legs, legs | 1 << BY_CALLER);
    }

    function _allocate(uint256 length, uint256 head) private view returns (Itinerary self) {
        head |= length << SIZE;
        assembly ("memory-safe") {
            self := add(mload(0x40), HEADROOM)
            mstore(0x40, add(self, length))
            mstore(self, head)
            mstore(add(self, USER), caller())
        }
    }

    /// @dev Writes what does not depend on a single leg.
    function describe(Itinerary self, uint256 sweepId, bytes32 signedWitness, uint256 mostSkipped) internal pure {
        assembly ("memory-safe") {
            mstore(self, or(mload(self), shl(MAX_SKIPPED, mostSkipped)))
            mstore(add(self, ID), sweepId)
            mstore(add(self, WITNESS), signedWitness)
        }
    }

    function setLastHop(Itinerary self) internal pure {
        uint256 head = _word(self, 0) | 1 << HAS_LAST_HOP;
        assembly ("memory-safe") {
            mstore(self, head)
        }
    }

    function setWrappedLeg(Itinerary self, uint256 index) internal pure {
        assembly ("memory-safe") {
            mstore(self, or(mload(self), shl(WRAPPED_LEG, add(index, 1))))
        }
    }

    /// @dev Copies an itinerary that a pool returned, from calldata at `offset`, where its length precedes it.
    function received(uint256 offset) internal pure returns (Itinerary self, bytes32 hash) {
        assembly ("memory-safe") {
            self := add(mload(0x40), HEADROOM)
            let length := calldataload(offset)
            mstore(0x40, add(self, length))
            calldatacopy(self, add(offset, 0x20), length)
            hash := keccak256(self, length)
        }
    }

    // ---------------------------------------------------------------- reading

    function commitment(Itinerary self) internal pure returns (bytes32 hash) {
        uint256 length = size(self);
        assembly ("memory-safe") {
            hash := keccak256(self, length)
        }
    }

    function count(Itinerary self) internal pure returns (uint256) {
        return uint32(_word(self, 0) >> COUNT);
    }

    function size(Itinerary self) internal pure returns (uint256) {
        return uint32(_word(self, 0) >> SIZE);
    }

    function permitCount(Itinerary self) internal pure returns (uint256) {
        return uint32(_word(self, 0) >> PERMITS);
    }

    function isByCaller(Itinerary self) internal pure returns (bool) {
        return _word(self, 0) >> BY_CALLER & 1 != 0;
    }

    function hasLastHop(Itinerary self) internal pure returns (bool) {
        return _word(self, 0) >> HAS_LAST_HOP & 1 != 0;
    }

    function maxSkipped(Itinerary self) internal pure returns (uint256) {
        return uint32(_word(self, 0) >> MAX_SKIPPED);
    }

    /// @dev The amount of the swept wrapped native token that joins the last hop.
    function wrappedAmount(Itinerary self) internal pure returns (uint256) {
        uint256 next = uint32(_word(self, 0) >> WRAPPED_LEG);
        return next == 0 ? 0 : leg(self, next - 1).amount();
    }

    function user(Itinerary self) internal pure returns (address) {
        return address(uint160(_word(self, USER)));
    }

    function id(Itinerary self) internal pure returns (uint256) {
        return _word(self, ID);
    }

    function witness(Itinerary self) internal pure returns (bytes32) {
        return bytes32(_word(self, WITNESS));
    }

    function leg(Itinerary self, uint256 index) internal pure returns (PlannedLeg planned) {
        assembly ("memory-safe") {
            planned := add(add(self, LEGS), mul(index, LEG_SIZE))
        }
    }

    /// @dev Where the consent is: the nonce of the Permit2 permit, its deadline, and the signature as `bytes`.
    function consent(Itinerary self) internal pure returns (uint256 place) {
        uint256 legs = count(self);
        assembly ("memory-safe") {
            place := add(add(self, LEGS), mul(legs, LEG_SIZE))
        }
    }

    function permit(Itinerary self, uint256 index) internal pure returns (ISweepBatch.TokenPermit memory read) {
        uint256 place = Itinerary.unwrap(self) + size(self) - PERMIT_SIZE * (permitCount(self) - index);
        assembly ("memory-safe") {
            read := place // words in the order of the struct's fields, as in memory
        }
    }

    function _word(Itinerary self, uint256 offset) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := mload(add(self, offset))
        }
    }
}
