// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IPermit2} from "./interfaces/IPermit2.sol";
import {ISweepBatch} from "./interfaces/ISweepBatch.sol";
import {IDaiPermit, ITokenPermit} from "./interfaces/ITokenPermits.sol";
import {Itinerary, PlannedLeg} from "./Itinerary.sol";
import {Permit2Call} from "./Permit2Call.sol";
import {Reverts} from "./Reverts.sol";

/// @title TokenPull
/// @notice Transfers the user's tokens to where an itinerary says: with Permit2, after the tokens' own permits, or from
/// approvals of this contract. Only the sender of the sweep is debited.
abstract contract TokenPull is ISweepBatch {
    using SafeERC20 for IERC20;

    /// @dev The placeholder for the native coin as output token.
    address internal constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    /// @dev Enough for tokens behind a proxy that check a signature of a contract; too little to make a sweep expensive.
    uint256 private constant TOKEN_PERMIT_GAS = 200_000;

    /// @inheritdoc ISweepBatch
    address public immutable PERMIT2;

    constructor(address permit2) {
        PERMIT2 = permit2;
    }

    /// @dev The end of the type string that the user's Permit2 signature covers.
    function _witnessTypeString() internal view virtual returns (string memory);

    /// @dev Legs in the set `skipped` are left out.
    function _pullTokens(Itinerary itinerary, uint256 skipped) internal {
        if (itinerary.isByCaller()) return _transferApproved(itinerary, skipped);
        for (uint256 i = 0; i < itinerary.permitCount(); ++i) {
            _usePermit(itinerary, itinerary.permit(i), skipped);
        }
        _transferWithPermit2(itinerary, skipped);
    }

    function _transferApproved(Itinerary itinerary, uint256 skipped) private {
        address user = itinerary.user();
        uint256 count = itinerary.count();
        for (uint256 i = 0; i < count; ++i) {
            if (skipped >> i & 1 != 0) continue;
            PlannedLeg leg = itinerary.leg(i);
            IERC20 token = IERC20(leg.token());
            if (!token.trySafeTransferFrom(user, leg.swap().receiver(), leg.amount())) {
                revert PullFailed(abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(token)));
            }
        }
    }

    /// @dev A failure is ignored: another account may have used the permit before, and without an allowance Permit2's transfer
    /// fails.
    function _usePermit(Itinerary itinerary, TokenPermit memory permit, uint256 skipped) private {
        if (permit.leg >= itinerary.count()) {
            revert PullFailed(abi.encodeWithSelector(PermitLegUnknown.selector, permit.leg));
        }
        if (skipped >> permit.leg & 1 != 0) return;
        bytes memory data = permit.isDaiKind
            ? abi.encodeCall(
                IDaiPermit.permit,
                (itinerary.user(), PERMIT2, permit.valueOrNonce, permit.deadline, true, permit.v, permit.r, permit.s)
            )
            : abi.encodeCall(
                ITokenPermit.permit,
                (itinerary.user(), PERMIT2, permit.valueOrNonce, permit.deadline, permit.v, permit.r, permit.s)
            );
        address token = itinerary.leg(permit.leg).token();
        assembly ("memory-safe") {
            pop(call(TOKEN_PERMIT_GAS, token, 0, add(data, 0x20), mload(data), 0, 0))
        }
    }

    /// @dev One batch under the user's signature, for all legs: Permit2 checks tokens and amounts against it. Nothing is
    /// requested of legs that are left out.
    function _transferWithPermit2(Itinerary itinerary, uint256 skipped) private {
        (uint256 start, uint256 end) = Permit2Call.encode(itinerary, skipped, bytes(_witnessTypeString()));
        address permit2 = PERMIT2;
        bool success;
        assembly ("memory-safe") {
            success := call(gas(), permit2, 0, start, sub(end, start), 0, 0)
        }
        if (!success) revert PullFailed(Reverts.returned());
    }
}
