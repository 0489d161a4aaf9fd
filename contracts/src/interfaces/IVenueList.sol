// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title IVenueList
/// @notice The allow list of venues: families of pools that sweeps call directly. A caller never names a pool; its
/// address is computed from the venue, the two tokens and the fee. The whole list can be read, so that a deployment can
/// be compared with its configuration.
interface IVenueList {
    /// @notice How a venue's pools swap.
    /// @dev `V3`: `swap(address,bool,int256,uint160,bytes)`, exact input, pays before it asks for the input in its
    /// callback. `V2`: `swap(uint256,uint256,address,bytes)` with the output computed from `getReserves()`.
    enum PoolKind {
        None,
        V3,
        V2
    }

    /// @notice What the salt of a pool's CREATE2 address is the keccak256 hash of, with the tokens sorted.
    /// @dev `PairAndFee`: abi.encode(token0, token1, fee), as in Uniswap V3. `Pair`: abi.encode(token0, token1), as in
    /// Algebra. `PackedPair`: abi.encodePacked(token0, token1), as in Uniswap V2.
    enum SaltRule {
        PairAndFee,
        Pair,
        PackedPair
    }

    /// @notice A venue.
    /// @param deployer The account that creates the pools with CREATE2: the factory, or its deployer.
    /// @param kind How its pools swap.
    /// @param saltRule How a pool's salt is derived.
    /// @param feeBps What V2 pools keep of the input, in basis points; zero for V3, whose pools know their fee.
    /// @param callback The selector of the function that its pools call to be paid.
    /// @param initCodeHash The keccak256 hash of a pool's creation code.
    struct Venue {
        address deployer;
        PoolKind kind;
        SaltRule saltRule;
        uint16 feeBps;
        bytes4 callback;
        bytes32 initCodeHash;
    }

    /// @notice A venue and its id.
    struct ListedVenue {
        uint16 id;
        Venue venue;
    }

    /// @notice Emitted when a venue is listed.
    event VenueListed(uint16 indexed id, Venue venue);

    /// @notice Emitted when a venue is removed.
    event VenueRemoved(uint16 indexed id);

    /// @notice The id is zero, or belongs to a venue that is or was listed.
    error VenueIdUsed(uint16 id);
    /// @notice A field of the venue is missing, or contradicts its kind.
    error InvalidVenue(Venue venue);
    /// @notice No venue with this id is listed.
    error UnknownVenue(uint16 id);
    /// @notice Pools of this venue have no fee in their address, so a leg must not name one.
    error FeeNotExpected(uint16 id, uint24 fee);

    /// @notice Lists a venue.
    /// @dev Restricted; assign it a delay, because a pool of a listed venue is believed to swap at its price. Reverts
    /// with `VenueIdUsed` or `InvalidVenue`. Emits `VenueListed`.
    /// @param id An id that was never used, because what was signed for a venue must not be valid for another.
    /// @param venue The venue.
    function listVenue(uint16 id, Venue calldata venue) external;

    /// @notice Removes a venue.
    /// @dev Restricted; assign it no delay. Reverts with `UnknownVenue`. Emits `VenueRemoved`.
    function removeVenue(uint16 id) external;

    /// @notice Returns the whole list, in no particular order.
    function venues() external view returns (ListedVenue[] memory);

    /// @notice Returns the address of a venue's pool, which may not exist.
    /// @dev Reverts with `UnknownVenue` or `FeeNotExpected`.
    /// @param id The venue.
    /// @param tokenA One of the tokens, in any order.
    /// @param tokenB The other.
    /// @param fee The pool's fee as in its address; zero if the venue's pools have none in it.
    function poolAddress(uint16 id, address tokenA, address tokenB, uint24 fee) external view returns (address);
}
