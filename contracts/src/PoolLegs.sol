// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Balances} from "./Balances.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IV2Pool, IV3Pool} from "./interfaces/IPools.sol";
import {ISweepBatch} from "./interfaces/ISweepBatch.sol";
import {Itinerary, ItineraryWords, PlannedLeg} from "./Itinerary.sol";
import {Reverts} from "./Reverts.sol";
import {Awaited, AwaitedWord, Swap} from "./Swap.sol";
import {TokenPull} from "./TokenPull.sol";

/// @title PoolLegs
/// @notice Calls the pools of a sweep, each inside the callback of the one before. The innermost callback transfers
/// the user's tokens, straight to the pools. So every price is fixed, and every pool locked, before any code of a swept
/// token runs that could change state.
///
/// What a pool hands to its callback is compared with what it was given, before anything of it is used. A leg that is
/// refused for its price can be left out: then nothing behind it ran, and the next leg is tried in its place.
abstract contract PoolLegs is TokenPull {
    using Balances for IERC20;
    using SafeERC20 for IERC20;

    /// @dev What a V3 pool reverts with if its price is at the limit before the swap.
    bytes32 private constant AT_PRICE_LIMIT = keccak256(abi.encodeWithSignature("Error(string)", "SPL"));
    uint16 internal constant BPS_DENOMINATOR = 10_000;

    // Where the callbacks have the length of the data: behind the selector, the arguments and the offset of the data.
    uint256 private constant V3_DATA_AT = 4 + 3 * 32;
    uint256 private constant V2_DATA_AT = 4 + 4 * 32;
    // The length of a pool's call up to its data.
    uint256 private constant V3_CALL_SIZE = 4 + 6 * 32;
    uint256 private constant V2_CALL_SIZE = 4 + 5 * 32;

    Awaited private transient _awaited;
    /// @dev The hash of the itinerary.
    bytes32 private transient _commitment;
    /// @dev The pool that swaps what the joined legs bring.
    Swap internal transient _lastHop;
    /// @dev This contract's balance of the wrapped native token before the sweep.
    uint256 internal transient _wrappedBefore;
    uint256 private transient _lastHopInput;
    uint256 private transient _lastHopOutput;

    /// @inheritdoc ISweepBatch
    address public immutable WRAPPED_NATIVE;

    constructor(address permit2, address wrappedNative) TokenPull(permit2) {
        WRAPPED_NATIVE = wrappedNative;
    }

    /// @dev The callback of the pool that is awaited, whatever its name.
    fallback() external {
        Awaited awaited = _awaited;
        if (!awaited.isFrom(msg.sender, msg.sig)) revert UnexpectedCallback(msg.sender, msg.sig);
        bool isV2 = awaited.isV2();
        (Itinerary itinerary, bytes32 hash) = ItineraryWords.received(isV2 ? V2_DATA_AT : V3_DATA_AT);
        if (hash != _commitment) revert CallbackDataChanged(msg.sender);
        uint256 index = awaited.index();
        uint256 skipped = awaited.skipped();
        if (index == itinerary.count()) return _payLastHop(itinerary, index, isV2, skipped);
        if (!isV2) {
            PlannedLeg leg = itinerary.leg(index);
            _checkPrice(index, leg.swap(), leg.amount(), leg.least());
        }
        unchecked {
            _enterPools(itinerary, index + 1, skipped);
        }
    }

    /// @dev Runs the pool legs and transfers the tokens of all legs. Returns the set of legs that were left out, and
    /// what the last hop brought. Reverts if a pool does not call back.
    function _runPools(Itinerary itinerary, uint256 dropped) internal returns (uint256 skipped, uint256 lastHopOutput) {
        _commitment = itinerary.commitment();
        _enterPools(itinerary, 0, dropped);
        Awaited last = _awaited;
        if (!last.isDone()) revert NotCalledBack();
        _awaited = Awaited.wrap(0);
        skipped = last.skipped();
        if (itinerary.hasLastHop()) (lastHopOutput, _lastHopOutput) = (_lastHopOutput, 0);
    }

    // ---------------------------------------------------------------- legs

    /// @dev Calls the first pool, from leg `index` on, that does not refuse for its price; everything else happens in
    /// its callback.
    function _enterPools(Itinerary itinerary, uint256 index, uint256 skipped) private {
        uint256 count = itinerary.count();
        for (; index < count; ++index) {
            PlannedLeg leg = itinerary.leg(index);
            Swap swap = leg.swap();
            if (!swap.hasPool()) continue;
            (bool entered, SkipReason reason) = _enterPool(itinerary, index, leg, swap, skipped);
            if (entered) return;
            skipped = _skip(itinerary, index, skipped, reason);
        }
        _enterLastHop(itinerary, skipped);
    }

    /// @dev Returns false and the reason if the leg's price is too low and the leg may be left out.
    function _enterPool(Itinerary itinerary, uint256 index, PlannedLeg leg, Swap swap, uint256 skipped)
        private
        returns (bool entered, SkipReason refusal)
    {
        uint256 input = leg.amount();
        if (swap.isV2()) {
            uint256 output = _v2Output(index, swap, input);
            uint256 least = Math.max(leg.least(), 1); // a pair refuses to pay nothing
            if (output < least) {
                if (swap.isSkippable()) return (false, SkipReason.BelowLeast);
                _fail(index, swap, abi.encodeWithSelector(BelowLeast.selector, index, output, least));
            }
            entered = _callV2(itinerary, index, swap, output, skipped);
        } else {
            entered = _callV3(itinerary, index, swap, input, skipped);
        }
        if (!entered) refusal = _refusalOf(index, swap, Reverts.returned());
    }

    /// @dev Returns why the pool of a leg that may be left out was refused. Reverts if its call failed for another
    /// reason. A pool whose price is at its limit reverts before it calls back: it could take nothing.
    function _refusalOf(uint256 index, Swap swap, bytes memory reason) private pure returns (SkipReason) {
        bool isAtLimit = !swap.isV2() && keccak256(reason) == AT_PRICE_LIMIT;
        if (!swap.isSkippable() || (!isAtLimit && !_isVerdictOn(index, reason))) _fail(index, swap, reason);
        return isAtLimit || bytes4(reason) == NotFilled.selector ? SkipReason.NotFilled : SkipReason.BelowLeast;
    }

    /// @dev Reverts if the V3 pool that calls back takes less than the whole amount, or pays too little. Returns what
    /// it pays.
    function _checkPrice(uint256 index, Swap swap, uint256 amount, uint256 least) private pure returns (uint256 got) {
        bool zeroForOne = swap.zeroForOne();
        uint256 owed;
        assembly ("memory-safe") {
            let inputAt := add(4, mul(0x20, iszero(zeroForOne)))
            owed := calldataload(inputAt)
            got := sub(0, calldataload(sub(0x28, inputAt))) // a pool reports what it pays as a negative number
        }
        if (owed != amount) revert NotFilled(index, owed, amount);
        if (got < least) revert BelowLeast(index, got, least);
    }

    /// @dev The output of a V2 pool, rounded down as it does itself. An amount has 128 bits and a reserve 112, so nothing
    /// overflows; a pool that returns larger ones spoils its own price.
    function _v2Output(uint256 index, Swap swap, uint256 amount) private view returns (uint256 output) {
        bytes4 selector = IV2Pool.getReserves.selector;
        address pool = swap.receiver();
        bool success;
        uint256 reserve0;
        uint256 reserve1;
        // In assembly, because a Solidity call that fails could not be reported as the failure of this leg.
        assembly ("memory-safe") {
            mstore(0, selector)
            success := and(gt(returndatasize(), 0x3f), staticcall(gas(), pool, 0, 4, 0, 0x40))
            reserve0 := mload(0)
            reserve1 := mload(0x20)
        }
        if (!success) _fail(index, swap, Reverts.returned());
        (uint256 reserveIn, uint256 reserveOut) = swap.zeroForOne() ? (reserve0, reserve1) : (reserve1, reserve0);
        unchecked {
            uint256 amountAfterFee = amount * (BPS_DENOMINATOR - swap.feeBps());
            output = amountAfterFee * uint112(reserveOut) / (uint112(reserveIn) * BPS_DENOMINATOR + amountAfterFee);
        }
    }

    /// @dev Counts and reports a leg that is left out.
    function _skip(Itinerary itinerary, uint256 index, uint256 skipped, SkipReason reason)
        internal
        returns (uint256 nowSkipped)
    {
        nowSkipped = skipped | 1 << index;
        uint256 number = 0;
        for (uint256 rest = nowSkipped; rest != 0; rest &= rest - 1) {
            ++number;
        }
        if (number > itinerary.maxSkipped()) revert TooManySkipped(number, itinerary.maxSkipped());
        emit LegSkipped(itinerary.id(), index, itinerary.leg(index).token(), reason);
    }

    // ---------------------------------------------------------------- the last hop

    /// @dev Swaps what the joined legs brought. With nothing to swap, the pool is not called.
    function _enterLastHop(Itinerary itinerary, uint256 skipped) private {
        if (!itinerary.hasLastHop()) return _pullOnce(itinerary, skipped);
        uint256 input = IERC20(WRAPPED_NATIVE).heldBy(address(this)) - _wrappedBefore + itinerary.wrappedAmount();
        if (input == 0) return _pullOnce(itinerary, skipped);
        _lastHopInput = input;
        Swap swap = _lastHop;
        uint256 index = itinerary.count();
        bool success;
        if (swap.isV2()) {
            uint256 output = _v2Output(index, swap, input);
            _lastHopOutput = output;
            success = _callV2(itinerary, index, swap, output, skipped);
        } else {
            success = _callV3(itinerary, index, swap, input, skipped);
        }
        if (!success) _fail(index, swap, Reverts.returned());
    }

    /// @dev The swept wrapped native token goes from the user to the pool, like all tokens, and is not paid here.
    function _payLastHop(Itinerary itinerary, uint256 index, bool isV2, uint256 skipped) private {
        uint256 input = _lastHopInput;
        if (!isV2) _lastHopOutput = _checkPrice(index, _lastHop, input, 0);
        uint256 brought = input - itinerary.wrappedAmount();
        if (brought != 0) IERC20(WRAPPED_NATIVE).safeTransfer(msg.sender, brought);
        _pullOnce(itinerary, skipped);
    }

    // ---------------------------------------------------------------- calls

    /// @dev From here on no callback is accepted.
    function _pullOnce(Itinerary itinerary, uint256 skipped) private {
        _awaited = AwaitedWord.done(skipped);
        _pullTokens(itinerary, skipped);
    }

    /// @dev Completes the call in front of the itinerary, which is its data.
    function _callV3(Itinerary itinerary, uint256 index, Swap swap, uint256 amount, uint256 skipped)
        private
        returns (bool success)
    {
        _awaited = AwaitedWord.expect(swap, index, skipped);
        bytes4 selector = IV3Pool.swap.selector;
        address pool = swap.receiver();
        bool zeroForOne = swap.zeroForOne();
        uint256 limit = swap.sqrtPriceLimit();
        uint256 size = itinerary.size();
        assembly ("memory-safe") {
            let start := sub(itinerary, V3_CALL_SIZE)
            mstore(start, selector)
            mstore(add(start, 0x04), address())
            mstore(add(start, 0x24), zeroForOne)
            mstore(add(start, 0x44), amount)
            mstore(add(start, 0x64), limit)
            mstore(add(start, 0x84), 0xa0)
            mstore(add(start, 0xa4), size)
            success := call(gas(), pool, 0, start, add(V3_CALL_SIZE, size), 0, 0)
        }
    }

    /// @dev As `_callV3`.
    function _callV2(Itinerary itinerary, uint256 index, Swap swap, uint256 output, uint256 skipped)
        private
        returns (bool success)
    {
        _awaited = AwaitedWord.expect(swap, index, skipped);
        bytes4 selector = IV2Pool.swap.selector;
        address pool = swap.receiver();
        bool zeroForOne = swap.zeroForOne();
        uint256 size = itinerary.size();
        assembly ("memory-safe") {
            let start := sub(itinerary, V2_CALL_SIZE)
            mstore(start, selector)
            mstore(add(start, 0x04), mul(output, iszero(zeroForOne)))
            mstore(add(start, 0x24), mul(output, zeroForOne))
            mstore(add(start, 0x44), address())
            mstore(add(start, 0x64), 0x80)
            mstore(add(start, 0x84), size)
            success := call(gas(), pool, 0, start, add(V2_CALL_SIZE, size), 0, 0)
        }
    }

    /// @dev Whether the callback of this leg refused its price, as its first action. What fails behind it reaches this
    /// contract as one of the errors that `_fail` passes on, so it can't be mistaken for a refusal. The pool itself can
    /// pretend one, but then only its own leg is left out.
    function _isVerdictOn(uint256 index, bytes memory reason) private pure returns (bool) {
        bytes4 selector = bytes4(reason);
        if (reason.length != 4 + 3 * 32 || (selector != BelowLeast.selector && selector != NotFilled.selector)) {
            return false;
        }
        uint256 leg;
        assembly ("memory-safe") {
            leg := mload(add(reason, 0x24))
        }
        return leg == index;
    }

    /// @dev Passes on an error that says where it happened, and adds that to any other.
    function _fail(uint256 index, Swap swap, bytes memory reason) private pure {
        bytes4 selector = bytes4(reason);
        bool isLocated =
            selector == LegFailed.selector || selector == PullFailed.selector || selector == TooManySkipped.selector;
        if (isLocated) Reverts.raise(reason);
        revert LegFailed(index, swap.receiver(), reason);
    }
}
