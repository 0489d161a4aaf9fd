// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IRouterAllowList} from "./IRouterAllowList.sol";
import {IVenueList} from "./IVenueList.sol";

/// @title ISweepBatch
/// @notice What all batch contracts have in common: legs that swap many tokens into one, and a pause. A batch contract
/// holds no funds between calls and leaves no approval behind.
///
/// A leg is one of these:
/// - a pool leg: swapped in a pool of a listed venue, which this contract calls itself;
/// - a router leg: swapped by a listed function of a listed router, for what pools can't carry;
/// - the wrapped native token that needs no swap: if the output is the native coin, or if it joins the last hop;
/// - a leg that the offer drops: its token is not touched.
interface ISweepBatch is IRouterAllowList, IVenueList {
    /// @notice One token of a sweep. The user signs `token`, `amount` and `floor`.
    /// @param token The token to take from the user.
    /// @param amount The amount to take, in the token's smallest unit; at most 2^128 - 1.
    /// @param floor The least that the user receives for it, after the fee, in the output token's smallest unit; at most
    /// 2^128 - 1.
    /// @param hop How it is swapped, in bits, from the lowest: 24 the pool's fee as in its address, 16 the venue's id
    /// (zero if it is not a pool leg), 1 joined (swapped to the wrapped native token, and with the other joined legs
    /// through the last hop), 1 skippable (left out if its price is too low), 1 dropped (left out in any case); 30 the
    /// price at which a V3 pool stops, as the square root with 96 binary places: 22 of a number, 8 by how many bits it
    /// is shifted to the left, all zero for no limit; the upper 128 the least output of a joined pool leg, in the
    /// wrapped native token. All other bits are zero.
    struct Leg {
        address token;
        uint256 amount;
        uint256 floor;
        uint256 hop;
    }

    /// @notice The call that swaps a router leg.
    /// @param leg The leg's index.
    /// @param router The router to call.
    /// @param data The calldata, including the selector.
    struct RouterCall {
        uint256 leg;
        address router;
        bytes data;
    }

    /// @notice The way of a sweep.
    /// @param legs 1 to 30 legs, one per token.
    /// @param lastHop The pool that swaps what the joined legs brought into the output token, as the fee and venue of
    /// `Leg.hop`; zero if no leg is joined.
    /// @param maxSkipped How many legs may be dropped and skipped together, which the user signs; at most 255.
    /// @param routerCalls The calls of the router legs, in the order of the legs.
    struct Route {
        Leg[] legs;
        uint256 lastHop;
        uint256 maxSkipped;
        RouterCall[] routerCalls;
    }

    /// @notice A permit that a token itself checks, and that allows Permit2 to transfer it. The owner is always the
    /// sender of the sweep.
    /// @param leg The index of the leg whose token it is for.
    /// @param isDaiKind Whether the permit has DAI's form instead of that of EIP-2612.
    /// @param valueOrNonce The allowance; for DAI's form, which allows everything, the nonce.
    /// @param deadline The last Unix timestamp at which the permit is valid.
    struct TokenPermit {
        uint256 leg;
        bool isDaiKind;
        uint256 valueOrNonce;
        uint256 deadline;
        uint8 v;
        bytes32 r;
        bytes32 s;
    }

    /// @notice Why a leg was left out.
    /// @dev `Dropped`: by the offer. `BelowLeast`: its pool would have paid too little. `NotFilled`: its pool could not
    /// take the whole amount.
    enum SkipReason {
        Dropped,
        BelowLeast,
        NotFilled
    }

    /// @notice Emitted for each leg that a sweep left out; its token did not leave the user.
    /// @param id The nonce of the authorization; on V4 the reference of the sweep.
    /// @param leg The index of the leg.
    /// @param token The token of the leg.
    /// @param reason Why.
    event LegSkipped(uint256 indexed id, uint256 leg, address token, SkipReason reason);

    /// @notice Emitted when a fee recipient rejects the native coin and is paid in the wrapped native token instead.
    /// @param recipient The fee recipient.
    /// @param amount The fee, in the native coin's smallest unit.
    event PaidWrapped(address indexed recipient, uint256 amount);

    /// @notice Emitted when idle funds are sent away.
    /// @param token The token, or 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for the native coin.
    /// @param to The recipient.
    /// @param amount The amount, in the token's smallest unit.
    event Rescued(address indexed token, address indexed to, uint256 amount);

    /// @notice A sweep must have between one and `max` legs.
    error LegCountOutOfRange(uint256 count, uint256 max);
    /// @notice The amount of leg `leg` is zero.
    error ZeroLegAmount(uint256 leg);
    /// @notice An amount of leg `leg` needs more than 128 bits.
    error AmountTooLarge(uint256 leg, uint256 amount);
    /// @notice Two legs have the same token.
    error DuplicateToken(address token);
    /// @notice A leg would swap the output token.
    error TokenIsOutput(address token);
    /// @notice The hop of leg `leg` is not one that exists: unknown bits are set, or ones that exclude each other.
    /// `leg` is the number of legs for the last hop.
    error InvalidHop(uint256 leg, uint256 hop);
    /// @notice Leg `leg` is joined, but the route has no last hop, or the output token needs none.
    error JoinedWithoutLastHop(uint256 leg);
    /// @notice The route has a last hop, but no leg is joined.
    error LastHopWithoutJoinedLeg(uint256 lastHop);
    /// @notice The pool of leg `leg` was never created. `leg` is the number of legs for the last hop.
    error NoPool(uint256 leg, address pool);
    /// @notice Two hops of the route are through the same pool.
    error DuplicatePool(address pool);
    /// @notice More legs may be left out than can be counted.
    error MaxSkippedTooLarge(uint256 maxSkipped);
    /// @notice Leg `leg` has neither a pool nor a router call, and can't do without.
    error UnroutedLegInvalid(uint256 leg, address token);
    /// @notice A router call is for a leg that needs none, that already has one, or that does not exist.
    error RouterCallNotExpected(uint256 leg);
    /// @notice The router call of leg `leg` is too short to contain a selector.
    error SelectorMissing(uint256 leg, uint256 dataLength);
    /// @notice The router call of leg `leg` is not listed.
    error RouterNotAllowed(uint256 leg, address router, bytes4 selector);
    /// @notice The router of leg `leg` is a token of this sweep.
    error RouterIsToken(uint256 leg, address router);
    /// @notice The router of leg `leg` has no code, so a call would succeed without doing anything.
    error RouterWithoutCode(uint256 leg, address router);
    /// @notice The call of leg `leg` to its pool or router reverted with `reason`. `leg` is the number of legs for the
    /// last hop. The reason may be `BelowLeast` or `NotFilled` of this contract.
    error LegFailed(uint256 leg, address target, bytes reason);
    /// @notice The transfer of the user's tokens reverted with `reason`.
    error PullFailed(bytes reason);
    /// @notice The swap of leg `leg` would bring `got`, less than the least that user and service signed.
    error BelowLeast(uint256 leg, uint256 got, uint256 least);
    /// @notice The pool of leg `leg` could take `owed` of the amount only.
    error NotFilled(uint256 leg, uint256 owed, uint256 amount);
    /// @notice More legs would be left out than the user allowed.
    error TooManySkipped(uint256 skipped, uint256 maxSkipped);
    /// @notice No leg is left.
    error AllLegsSkipped(uint256 count);
    /// @notice A call that no pool of a sweep in progress makes.
    error UnexpectedCallback(address caller, bytes4 selector);
    /// @notice A pool returned other data to this contract than it was given.
    error CallbackDataChanged(address pool);
    /// @notice A pool returned without having called this contract back.
    error NotCalledBack();
    /// @notice A permit names a leg that does not exist.
    error PermitLegUnknown(uint256 leg);
    /// @notice The user received less of the output token than the floors of the legs that ran.
    error InsufficientUserOutput(uint256 received, uint256 minimum);
    /// @notice The transfer of a fee in the output token failed.
    error FeeTransferFailed(address token, address recipient, uint256 amount);
    /// @notice The recipient rejected the native coin.
    error NativeTransferFailed(address recipient, uint256 amount);
    /// @notice Native coin is accepted from the wrapped native token only.
    error UnexpectedNative(address sender, uint256 amount);
    /// @notice The fee is above the fixed cap.
    error TotalFeeAboveCap(uint16 totalFeeBps, uint16 capBps);
    /// @notice The recipient must not be this contract, the wrapped native token or, if it is to be paid, the zero
    /// address.
    error InvalidRecipient(address recipient);

    /// @notice Pauses all sweeps.
    /// @dev Restricted; assign it no delay. Emits `Paused` with the caller.
    function pause() external;

    /// @notice Resumes sweeps.
    /// @dev Restricted. Emits `Unpaused` with the caller.
    function unpause() external;

    /// @notice Sends away funds that were sent here by mistake. Between calls this contract holds no user's funds, and
    /// sweeps never spend its idle balance.
    /// @dev Restricted. Reverts with `InvalidRecipient`, `NativeTransferFailed` or the token's own error. Emits
    /// `Rescued`.
    /// @param token The token, or 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE for the native coin.
    /// @param to The recipient.
    /// @param amount The amount, in the token's smallest unit.
    function rescue(address token, address to, uint256 amount) external;

    /// @notice The maximum fee in basis points of the gross output; it can't be changed.
    function MAX_TOTAL_FEE_BPS() external view returns (uint16);

    /// @notice The Permit2 contract that transfers the users' tokens.
    function PERMIT2() external view returns (address);

    /// @notice The chain's native coin as an ERC-20.
    function WRAPPED_NATIVE() external view returns (address);
}
