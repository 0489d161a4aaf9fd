// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IPermit2} from "./interfaces/IPermit2.sol";
import {Itinerary, PlannedLeg} from "./Itinerary.sol";

/// @title Permit2Call
/// @notice Assembles the call of `IPermit2.permitWitnessTransferFrom` from an itinerary, word by word, because the
/// compiler's encoding of the same call costs each leg more gas than this contract adds to a swap.
///
/// The arguments, from the end of the selector: the offsets of permit and transfers, owner, witness, the offsets of type
/// string and signature (six words); the permit, which is an offset, nonce, deadline, and the list of tokens and
/// amounts; the list of recipients and requested amounts; the type string; the signature.
library Permit2Call {
    uint256 private constant SELECTOR_SIZE = 4;
    uint256 private constant PERMIT = 0xc0;
    uint256 private constant PERMITTED = 0x120;
    uint256 private constant PERMITTED_LIST = 0x140;
    uint256 private constant PAIR_SIZE = 0x40;

    /// @dev Returns where in memory the call starts and ends. Nothing is requested of the legs in the set `skipped`.
    function encode(Itinerary itinerary, uint256 skipped, bytes memory typeString)
        internal
        pure
        returns (uint256 start, uint256 end)
    {
        uint256 count = itinerary.count();
        (start, end) = _encodeFrame(itinerary, count, typeString);
        PlannedLeg leg = itinerary.leg(0);
        for (uint256 i = 0; i < count; ++i) {
            uint256 amount = leg.amount();
            uint256 requested = skipped >> i & 1 == 0 ? amount : 0;
            address token = leg.token();
            address recipient = leg.swap().receiver();
            assembly ("memory-safe") {
                let pair := add(add(start, add(SELECTOR_SIZE, PERMITTED_LIST)), mul(i, PAIR_SIZE))
                mstore(pair, token)
                mstore(add(pair, 0x20), amount)
                pair := add(pair, add(0x20, mul(count, PAIR_SIZE)))
                mstore(pair, and(recipient, 0xffffffffffffffffffffffffffffffffffffffff))
                mstore(add(pair, 0x20), requested)
            }
            leg = leg.next();
        }
    }

    /// @dev Writes everything but the pairs into free memory.
    function _encodeFrame(Itinerary itinerary, uint256 count, bytes memory typeString)
        private
        pure
        returns (uint256 start, uint256 end)
    {
        uint256 consent = itinerary.consent();
        bytes4 selector = IPermit2.permitWitnessTransferFrom.selector;
        uint256 transfers;
        uint256 strings;
        uint256 signature;
        unchecked {
            transfers = PERMITTED_LIST + PAIR_SIZE * count;
            strings = transfers + 0x20 + PAIR_SIZE * count;
            signature = strings + 0x20 + ((typeString.length + 0x1f) & ~uint256(0x1f));
        }
        address user = itinerary.user();
        bytes32 witness = itinerary.witness();
        assembly ("memory-safe") {
            start := mload(0x40)
            mstore(start, selector)
            let args := add(start, SELECTOR_SIZE)
            mstore(args, PERMIT)
            mstore(add(args, 0x20), transfers)
            mstore(add(args, 0x40), user)
            mstore(add(args, 0x60), witness)
            mstore(add(args, 0x80), strings)
            mstore(add(args, 0xa0), signature)
            mstore(add(args, PERMIT), 0x60)
            mcopy(add(args, add(PERMIT, 0x20)), consent, 0x40) // nonce and deadline
            mstore(add(args, PERMITTED), count)
            mstore(add(args, transfers), count)
            mcopy(add(args, strings), typeString, sub(signature, strings))
            let length := mload(add(consent, 0x40))
            let padded := and(add(length, 0x1f), not(0x1f))
            mcopy(add(args, signature), add(consent, 0x40), add(padded, 0x20))
            end := add(args, add(signature, add(padded, 0x20)))
            mstore(0x40, and(add(end, 0x1f), not(0x1f)))
        }
    }
}
