// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ISweepBatch} from "./interfaces/ISweepBatch.sol";
import {IWrappedNative} from "./interfaces/IWrappedNative.sol";
import {Balances} from "./Balances.sol";
import {Hop} from "./Hop.sol";
import {Itinerary, ItineraryWords} from "./Itinerary.sol";
import {PoolLegs} from "./PoolLegs.sol";
import {RoutePlanning} from "./RoutePlanning.sol";

/// @title SweepBatch
/// @notice What every sweep does, whatever the fee: run the legs of its route, measure the output, pay it out, and keep
/// nothing. Derived contracts decide who may sweep and how the output is split.
abstract contract SweepBatch is RoutePlanning, Pausable {
    using Balances for IERC20;
    using SafeERC20 for IERC20;

    uint256 private constant MAX_LEGS = 30;
    /// @inheritdoc ISweepBatch
    uint16 public constant MAX_TOTAL_FEE_BPS = 300;

    /// @dev Enough for a multi-signature wallet behind a proxy that logs the payment; too little to make a sweep
    /// expensive.
    uint256 private constant FEE_PUSH_GAS = 50_000;

    constructor(address authority, address permit2, address wrappedNative)
        AccessManaged(authority)
        PoolLegs(permit2, wrappedNative)
    {
        _requireCode(authority);
        _requireCode(permit2);
        _requireCode(wrappedNative);
    }

    receive() external payable {
        if (msg.sender != WRAPPED_NATIVE) revert UnexpectedNative(msg.sender, msg.value);
    }

    /// @inheritdoc ISweepBatch
    function pause() external nonReentrant restricted {
        _pause();
    }

    /// @inheritdoc ISweepBatch
    function unpause() external nonReentrant restricted {
        _unpause();
    }

    /// @inheritdoc AccessManaged
    /// @dev Guarded like every admin function: nothing that a sweep calls may change the authority.
    function setAuthority(address newAuthority) public override nonReentrant {
        super.setAuthority(newAuthority);
    }

    /// @inheritdoc ISweepBatch
    function rescue(address token, address to, uint256 amount) external nonReentrant restricted {
        _checkRecipient(to, true);
        if (token == NATIVE) _payNative(to, amount);
        else IERC20(token).safeTransfer(to, amount);
        emit Rescued(token, to, amount);
    }

    // ---------------------------------------------------------------- running the legs

    /// @dev Begins a sweep of the sender that Permit2 pays for.
    function _signedItinerary(
        Route calldata route,
        TokenPermit[] calldata permits,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) internal view returns (Itinerary) {
        return ItineraryWords.signed(_countOf(route), permitNonce, permitDeadline, permitSignature, permits);
    }

    function _noPermits() internal pure returns (TokenPermit[] calldata none) {
        assembly ("memory-safe") {
            none.offset := 0
            none.length := 0
        }
    }

    /// @dev Begins a sweep of the sender that is paid from approvals of this contract.
    function _callersItinerary(Route calldata route) internal view returns (Itinerary) {
        return ItineraryWords.byCaller(_countOf(route));
    }

    function _countOf(Route calldata route) private pure returns (uint256 count) {
        count = route.legs.length;
        if (count == 0 || count > MAX_LEGS) revert LegCountOutOfRange(count, MAX_LEGS);
    }

    /// @dev Swaps the sender's tokens into the output, which stays in this contract to be paid out. Returns the
    /// measured increase of its balance (of the wrapped native token if the output is the native coin), whatever pools
    /// and routers claim, and the least that the user must receive.
    function _runLegs(
        Itinerary itinerary,
        Route calldata route,
        address outputToken,
        uint16 feeBps,
        uint256 sweepId,
        bytes32 witness
    ) internal returns (uint256 grossOutput, uint256 minimum) {
        // slither-disable-next-line uninitialized-local - memory is zeroed
        Plan memory plan;
        plan.itinerary = itinerary;
        plan.outputToken = outputToken;
        plan.settlementToken = outputToken == NATIVE ? WRAPPED_NATIVE : outputToken;
        plan.userBps = BPS_DENOMINATOR - feeBps;
        _planRoute(plan, route, sweepId, witness);

        // Read before any transfer, like the balances of the plan: what is idle here is not part of the sweep.
        uint256 before = _settled(plan);
        (uint256 skipped, uint256 lastHopOutput) = _runPools(itinerary, plan.dropped);
        minimum = _floorsOfRest(plan, route, skipped, lastHopOutput);
        uint256 calls = plan.heldBefore.length;
        if (calls == 0) return (_settled(plan) - before, minimum);

        for (uint256 i = 0; i < calls; ++i) {
            _runRouterLeg(plan, route, i);
        }
        // Before the output is measured: if a swept token is the output token under a second address, what is returned
        // is not paid out once more.
        _returnUnspent(route, plan.heldBefore);
        grossOutput = _settled(plan) - before;
    }

    function _settled(Plan memory plan) private view returns (uint256) {
        return IERC20(plan.settlementToken).heldBy(address(this));
    }

    /// @dev Returns the floors of the legs that ran. Reverts if there are none, or if what the joined ones brought is
    /// less than their floors.
    function _floorsOfRest(Plan memory plan, Route calldata route, uint256 skipped, uint256 lastHopOutput)
        private
        pure
        returns (uint256 floors)
    {
        uint256 count = plan.itinerary.count();
        if (skipped == (1 << count) - 1) revert AllLegsSkipped(count);
        floors = plan.floors;
        uint256 joinedFloors = plan.joinedFloors;
        for (uint256 rest = skipped & ~plan.dropped; rest != 0; rest &= rest - 1) {
            Leg calldata leg = route.legs[Math.log2(rest & (~rest + 1))];
            floors -= leg.floor;
            if (Hop.wrap(leg.hop).isJoined()) joinedFloors -= leg.floor;
        }
        uint256 least = _grossOf(joinedFloors, plan.userBps);
        if (lastHopOutput < least) revert BelowLeast(count, lastHopOutput, least);
    }

    function _runRouterLeg(Plan memory plan, Route calldata route, uint256 callIndex) private {
        RouterCall calldata routerCall = route.routerCalls[callIndex];
        Leg calldata leg = route.legs[routerCall.leg];
        uint256 before = _settled(plan);
        _callRouter(leg, routerCall, plan.heldBefore[callIndex]);
        uint256 got = _settled(plan) - before;
        uint256 least = _grossOf(leg.floor, plan.userBps);
        if (got < least) revert BelowLeast(routerCall.leg, got, least);
    }

    // ---------------------------------------------------------------- fee and recipients

    function _checkFeeCap(uint16 totalFeeBps) internal pure {
        if (totalFeeBps > MAX_TOTAL_FEE_BPS) revert TotalFeeAboveCap(totalFeeBps, MAX_TOTAL_FEE_BPS);
    }

    /// @dev The wrapped native token is refused because it credits coin that it receives to the sender: the fee would
    /// stay here.
    function _checkRecipient(address recipient, bool required) internal view {
        bool staysHere = recipient == address(this) || recipient == WRAPPED_NATIVE;
        if (staysHere || (required && recipient == address(0))) revert InvalidRecipient(recipient);
    }

    // ---------------------------------------------------------------- hashing

    /// @dev Returns the EIP-712 hash of the legs' floors, which is that of their words in a row. They are placed in free
    /// memory without allocating it.
    function _hashFloors(Leg[] calldata legs) internal pure returns (bytes32 floorsHash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            let floor := add(legs.offset, 0x40)
            for { let i := 0 } lt(i, legs.length) { i := add(i, 1) } {
                mstore(add(free, shl(5, i)), calldataload(add(floor, shl(7, i))))
            }
            floorsHash := keccak256(free, shl(5, legs.length))
        }
    }

    /// @dev Returns the EIP-712 struct hash of a struct of value types, encoded in `size` bytes of calldata from
    /// `offset` on. Dirty bits in a value yield a hash that was not signed.
    function _hashStruct(bytes32 typehash, uint256 offset, uint256 size) internal pure returns (bytes32 structHash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typehash)
            calldatacopy(add(free, 0x20), offset, size)
            structHash := keccak256(free, add(size, 0x20))
        }
    }

    // ---------------------------------------------------------------- paying out

    function _unwrapIfNative(address outputToken, uint256 amount) internal {
        if (outputToken == NATIVE) IWrappedNative(WRAPPED_NATIVE).withdraw(amount);
    }

    /// @dev Reverts if the user receives less than `minimum`. An ERC-20 is measured by the user's balance, because a
    /// token may take a transfer fee.
    function _payUser(address outputToken, uint256 amount, uint256 minimum) internal {
        uint256 received = amount;
        if (outputToken == NATIVE) {
            _payNative(msg.sender, amount);
        } else {
            uint256 before = IERC20(outputToken).heldBy(msg.sender);
            IERC20(outputToken).safeTransfer(msg.sender, amount);
            received = IERC20(outputToken).heldBy(msg.sender) - before;
        }
        if (received < minimum) revert InsufficientUserOutput(received, minimum);
    }

    /// @dev A fee recipient can neither block a sweep into the native coin nor make it expensive: the gas of the
    /// payment is limited, and if it fails the fee is paid in the wrapped native token.
    function _payFee(address outputToken, address recipient, uint256 amount) internal {
        // slither-disable-next-line incorrect-equality - forcing it gains nothing: a fee of zero needs no payment
        if (amount == 0) return;
        if (outputToken != NATIVE) {
            bool paid = IERC20(outputToken).trySafeTransfer(recipient, amount);
            if (!paid) revert FeeTransferFailed(outputToken, recipient, amount);
        } else if (!_push(recipient, amount, FEE_PUSH_GAS)) {
            IWrappedNative(WRAPPED_NATIVE).deposit{value: amount}();
            IERC20(WRAPPED_NATIVE).safeTransfer(recipient, amount);
            // slither-disable-next-line reentrancy-events - the re-entrancy guard keeps other events of this contract out
            emit PaidWrapped(recipient, amount);
        }
    }

    function _payNative(address recipient, uint256 amount) private {
        if (!_push(recipient, amount, gasleft())) revert NativeTransferFailed(recipient, amount);
    }

    /// @dev In assembly, because a Solidity call copies the return data, however long it is.
    function _push(address recipient, uint256 amount, uint256 gasLimit) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasLimit, recipient, amount, 0, 0, 0, 0)
        }
    }

    /// @dev Legs that call these could transfer the user's tokens, call this contract's own functions, or unwrap the
    /// output while it is being measured.
    function _isForbiddenCallee(address account) internal view override returns (bool) {
        return account == PERMIT2 || account == address(this) || account == WRAPPED_NATIVE;
    }
}
