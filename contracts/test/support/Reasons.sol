// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IRouterAllowList} from "../../src/interfaces/IRouterAllowList.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../../src/interfaces/IVenueList.sol";

/// @title Reasons
/// @notice Every error that a step of the invariant handler can end in, and everything that a sweep can be made of: a
/// campaign that misses one of them proves too little.
library Reasons {
    struct Reason {
        bytes4 selector;
        string name;
    }

    function all() internal pure returns (Reason[] memory reasons) {
        reasons = new Reason[](62);
        uint256 n = 0;
        reasons[n++] = Reason(Pausable.EnforcedPause.selector, "EnforcedPause");
        reasons[n++] = Reason(Pausable.ExpectedPause.selector, "ExpectedPause");
        reasons[n++] = Reason(IAccessManaged.AccessManagedUnauthorized.selector, "AccessManagedUnauthorized");
        reasons[n++] = Reason(IV5.WrongUser.selector, "WrongUser");
        reasons[n++] = Reason(IV5.AuthorizationExpired.selector, "AuthorizationExpired");
        reasons[n++] = Reason(IV5.LegsHashMismatch.selector, "LegsHashMismatch");
        reasons[n++] = Reason(IV5.PartnerShareAboveWhole.selector, "PartnerShareAboveWhole");
        reasons[n++] = Reason(IV5.InvalidAuthorizationSignature.selector, "InvalidAuthorizationSignature");
        reasons[n++] = Reason(IV5.NonceAlreadyUsed.selector, "NonceAlreadyUsed");
        reasons[n++] = Reason(IV5.NotAFeeSigner.selector, "NotAFeeSigner");
        reasons[n++] = Reason(IV5.ZeroFeeSigner.selector, "ZeroFeeSigner");
        reasons[n++] = Reason(IV5.HandoverTooLong.selector, "HandoverTooLong");
        reasons[n++] = Reason(IV4.FeeMismatch.selector, "FeeMismatch");
        reasons[n++] = Reason(IV4.SweepRefAlreadyUsed.selector, "SweepRefAlreadyUsed");
        reasons[n++] = Reason(ISweepBatch.LegCountOutOfRange.selector, "LegCountOutOfRange");
        reasons[n++] = Reason(ISweepBatch.ZeroLegAmount.selector, "ZeroLegAmount");
        reasons[n++] = Reason(ISweepBatch.AmountTooLarge.selector, "AmountTooLarge");
        reasons[n++] = Reason(ISweepBatch.DuplicateToken.selector, "DuplicateToken");
        reasons[n++] = Reason(ISweepBatch.TokenIsOutput.selector, "TokenIsOutput");
        reasons[n++] = Reason(ISweepBatch.InvalidHop.selector, "InvalidHop");
        reasons[n++] = Reason(ISweepBatch.JoinedWithoutLastHop.selector, "JoinedWithoutLastHop");
        reasons[n++] = Reason(ISweepBatch.LastHopWithoutJoinedLeg.selector, "LastHopWithoutJoinedLeg");
        reasons[n++] = Reason(ISweepBatch.NoPool.selector, "NoPool");
        reasons[n++] = Reason(ISweepBatch.DuplicatePool.selector, "DuplicatePool");
        reasons[n++] = Reason(ISweepBatch.MaxSkippedTooLarge.selector, "MaxSkippedTooLarge");
        reasons[n++] = Reason(ISweepBatch.UnroutedLegInvalid.selector, "UnroutedLegInvalid");
        reasons[n++] = Reason(ISweepBatch.RouterCallNotExpected.selector, "RouterCallNotExpected");
        reasons[n++] = Reason(ISweepBatch.SelectorMissing.selector, "SelectorMissing");
        reasons[n++] = Reason(ISweepBatch.RouterNotAllowed.selector, "RouterNotAllowed");
        reasons[n++] = Reason(ISweepBatch.RouterIsToken.selector, "RouterIsToken");
        reasons[n++] = Reason(ISweepBatch.RouterWithoutCode.selector, "RouterWithoutCode");
        reasons[n++] = Reason(ISweepBatch.LegFailed.selector, "LegFailed");
        reasons[n++] = Reason(ISweepBatch.PullFailed.selector, "PullFailed");
        reasons[n++] = Reason(ISweepBatch.BelowLeast.selector, "BelowLeast");
        reasons[n++] = Reason(ISweepBatch.NotFilled.selector, "NotFilled");
        reasons[n++] = Reason(ISweepBatch.TooManySkipped.selector, "TooManySkipped");
        reasons[n++] = Reason(ISweepBatch.AllLegsSkipped.selector, "AllLegsSkipped");
        reasons[n++] = Reason(ISweepBatch.UnexpectedCallback.selector, "UnexpectedCallback");
        reasons[n++] = Reason(ISweepBatch.CallbackDataChanged.selector, "CallbackDataChanged");
        reasons[n++] = Reason(ISweepBatch.NotCalledBack.selector, "NotCalledBack");
        reasons[n++] = Reason(ISweepBatch.PermitLegUnknown.selector, "PermitLegUnknown");
        reasons[n++] = Reason(ISweepBatch.InsufficientUserOutput.selector, "InsufficientUserOutput");
        reasons[n++] = Reason(ISweepBatch.FeeTransferFailed.selector, "FeeTransferFailed");
        reasons[n++] = Reason(ISweepBatch.NativeTransferFailed.selector, "NativeTransferFailed");
        reasons[n++] = Reason(ISweepBatch.UnexpectedNative.selector, "UnexpectedNative");
        reasons[n++] = Reason(ISweepBatch.TotalFeeAboveCap.selector, "TotalFeeAboveCap");
        reasons[n++] = Reason(ISweepBatch.InvalidRecipient.selector, "InvalidRecipient");
        reasons[n++] = Reason(IVenueList.VenueIdUsed.selector, "VenueIdUsed");
        reasons[n++] = Reason(IVenueList.InvalidVenue.selector, "InvalidVenue");
        reasons[n++] = Reason(IVenueList.UnknownVenue.selector, "UnknownVenue");
        reasons[n++] = Reason(IVenueList.FeeNotExpected.selector, "FeeNotExpected");
        reasons[n++] = Reason(IRouterAllowList.RouterForbidden.selector, "RouterForbidden");
        reasons[n++] = Reason(IRouterAllowList.NotAContract.selector, "NotAContract");
        reasons[n++] = Reason(IRouterAllowList.NotAnExactInputSwap.selector, "NotAnExactInputSwap");
        reasons[n++] = Reason(IRouterAllowList.RouterNotListed.selector, "RouterNotListed");
        reasons[n++] = Reason(SafeERC20.SafeERC20FailedOperation.selector, "SafeERC20FailedOperation");
        // Permit2's errors about the user's signature
        reasons[n++] = Reason(bytes4(keccak256("InvalidSigner()")), "InvalidSigner");
        reasons[n++] = Reason(bytes4(keccak256("InvalidContractSignature()")), "InvalidContractSignature");
        reasons[n++] = Reason(bytes4(keccak256("InvalidSignatureLength()")), "InvalidSignatureLength");
        reasons[n++] = Reason(bytes4(keccak256("InvalidNonce()")), "InvalidNonce");
        reasons[n++] = Reason(bytes4(keccak256("SignatureExpired(uint256)")), "SignatureExpired");
        reasons[n++] = Reason(bytes4(keccak256("Error(string)")), "TransferFromFailed"); // a token's
    }

    /// @dev What successful sweeps must have been made of, in the words of `SweepTraces`.
    function features() internal pure returns (string[] memory names) {
        names = new string[](30);
        uint256 n = 0;
        names[n++] = "sweeps with Permit2";
        names[n++] = "sweeps with permits";
        names[n++] = "sweeps by the caller";
        names[n++] = "sweeps with an order of calls";
        names[n++] = "direct V3";
        names[n++] = "direct V2";
        names[n++] = "direct hostile";
        names[n++] = "joined V3";
        names[n++] = "joined V2";
        names[n++] = "joined hostile";
        names[n++] = "joined wrapped coin";
        names[n++] = "unwrapped";
        names[n++] = "router legs";
        names[n++] = "dropped";
        names[n++] = "direct V3 below least";
        names[n++] = "direct V3 not filled";
        names[n++] = "direct V2 below least";
        names[n++] = "direct hostile below least";
        names[n++] = "joined V3 below least";
        names[n++] = "joined V3 not filled";
        names[n++] = "joined V2 below least";
        names[n++] = "joined hostile below least";
        names[n++] = "last hops V3";
        names[n++] = "last hops V2";
        names[n++] = "last hops hostile";
        names[n++] = "permit of EIP-2612";
        names[n++] = "permit of the DAI kind";
        names[n++] = "front-run permit";
        names[n++] = "forged permit";
        names[n++] = "trades";
    }
}
