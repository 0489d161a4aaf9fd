// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {EnumerableSet} from "@openzeppelin/contracts/utils/structs/EnumerableSet.sol";
import {IVenueList} from "./interfaces/IVenueList.sol";
import {Swap} from "./Swap.sol";

/// @title VenueList
/// @notice The allow list of venues whose pools sweeps call. Its admin functions share the re-entrancy guard with the
/// sweeps of the derived contract, so nothing that a sweep calls can change the list.
abstract contract VenueList is IVenueList, AccessManaged, ReentrancyGuardTransient {
    using EnumerableSet for EnumerableSet.UintSet;

    uint16 private constant MAX_POOL_FEE_BPS = 9_999;

    EnumerableSet.UintSet private _listedIds;
    /// @dev Two slots each. A removed venue keeps its hash, which marks the id as used.
    mapping(uint256 id => Venue venue) private _venues;

    /// @inheritdoc IVenueList
    function listVenue(uint16 id, Venue calldata venue) external nonReentrant restricted {
        if (id == 0 || _venues[id].initCodeHash != 0) revert VenueIdUsed(id);
        if (!_isValid(venue)) revert InvalidVenue(venue);
        // slither-disable-next-line unused-return - an id that was never used is not in the set
        _listedIds.add(id);
        _venues[id] = venue;
        emit VenueListed(id, venue);
    }

    /// @inheritdoc IVenueList
    function removeVenue(uint16 id) external nonReentrant restricted {
        if (!_listedIds.remove(id)) revert UnknownVenue(id);
        _venues[id].kind = PoolKind.None;
        emit VenueRemoved(id);
    }

    /// @inheritdoc IVenueList
    function venues() external view returns (ListedVenue[] memory listed) {
        uint256[] memory ids = _listedIds.values();
        listed = new ListedVenue[](ids.length);
        for (uint256 i = 0; i < ids.length; ++i) {
            listed[i] = ListedVenue(uint16(ids[i]), _venues[ids[i]]);
        }
    }

    /// @inheritdoc IVenueList
    function poolAddress(uint16 id, address tokenA, address tokenB, uint24 fee) external view returns (address) {
        (Swap venue, bytes32 initCodeHash) = _venue(id);
        return _poolOf(id, venue, initCodeHash, tokenA, tokenB, fee);
    }

    /// @dev The two words in which a venue is stored: the first is that of a swap, with the deployer as receiver.
    function _venue(uint16 id) internal view returns (Swap venue, bytes32 initCodeHash) {
        Venue storage stored = _venues[id];
        assembly ("memory-safe") {
            venue := sload(stored.slot)
            initCodeHash := sload(add(stored.slot, 1))
        }
        if (!venue.hasPool()) revert UnknownVenue(id);
    }

    function _poolOf(uint16 id, Swap venue, bytes32 initCodeHash, address tokenA, address tokenB, uint24 fee)
        internal
        pure
        returns (address)
    {
        if (fee != 0 && !venue.hasSaltRule(SaltRule.PairAndFee)) revert FeeNotExpected(id, fee);
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return Create2.computeAddress(_saltOf(venue, token0, token1, fee), initCodeHash, venue.receiver());
    }

    /// @dev As `SaltRule` says. In assembly, because every leg would leave its encoding in memory, which costs gas in
    /// all of them.
    function _saltOf(Swap venue, address token0, address token1, uint24 fee) private pure returns (bytes32 salt) {
        bool isPacked = venue.hasSaltRule(SaltRule.PackedPair);
        bool hasFee = venue.hasSaltRule(SaltRule.PairAndFee);
        assembly ("memory-safe") {
            let free := mload(0x40)
            switch isPacked
            case 0 {
                mstore(free, token0)
                mstore(add(free, 0x20), token1)
                mstore(add(free, 0x40), and(fee, 0xffffff))
                salt := keccak256(free, add(0x40, shl(5, hasFee)))
            }
            default {
                mstore(free, shl(96, token0))
                mstore(add(free, 20), shl(96, token1))
                salt := keccak256(free, 40)
            }
        }
    }

    function _isValid(Venue calldata venue) private pure returns (bool) {
        bool isComplete = venue.deployer != address(0) && venue.callback != 0 && venue.initCodeHash != 0;
        if (venue.kind == PoolKind.V3) return isComplete && venue.feeBps == 0;
        return isComplete && venue.kind == PoolKind.V2 && venue.feeBps <= MAX_POOL_FEE_BPS;
    }
}
