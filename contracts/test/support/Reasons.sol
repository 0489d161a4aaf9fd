// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IRouterAllowList} from "../../src/interfaces/IRouterAllowList.sol";
import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";

/// @title Reasons
/// @notice Everything that a step of the invariants' handler can be refused for: a campaign that misses one proves too little.
library Reasons {
    struct Reason {
        bytes4 selector;
        string name;
    }

    function all() internal pure returns (Reason[] memory reasons) {
        reasons = new Reason[](48);
        uint256 n = 0;
        reasons[n++] = Reason(Pausable.EnforcedPause.selector, "EnforcedPause");
        reasons[n++] = Reason(IV5.WrongUser.selector, "WrongUser");
        reasons[n++] = Reason(IV5.AuthorizationExpired.selector, "AuthorizationExpired");
        reasons[n++] = Reason(IV5.LegsHashMismatch.selector, "LegsHashMismatch");
        reasons[n++] = Reason(IV5.OutputTokenMismatch.selector, "OutputTokenMismatch");
        reasons[n++] = Reason(IV5.TotalFeeMismatch.selector, "TotalFeeMismatch");
        reasons[n++] = Reason(IV5.PartnerShareAboveWhole.selector, "PartnerShareAboveWhole");
        reasons[n++] = Reason(IV5.PartnerMismatch.selector, "PartnerMismatch");
        reasons[n++] = Reason(IV5.NonceMismatch.selector, "NonceMismatch");
        reasons[n++] = Reason(IV5.InvalidAuthorizationSignature.selector, "InvalidAuthorizationSignature");
        reasons[n++] = Reason(IV5.NonceAlreadyUsed.selector, "NonceAlreadyUsed");
        reasons[n++] = Reason(IV5.NotAFeeSigner.selector, "NotAFeeSigner");
        reasons[n++] = Reason(IV5.ZeroFeeSigner.selector, "ZeroFeeSigner");
        reasons[n++] = Reason(IV5.HandoverTooLong.selector, "HandoverTooLong");
        reasons[n++] = Reason(IV4.FeeMismatch.selector, "FeeMismatch");
        reasons[n++] = Reason(IV4.SweepRefAlreadyUsed.selector, "SweepRefAlreadyUsed");
        reasons[n++] = Reason(ISweepBatch.LegCountOutOfRange.selector, "LegCountOutOfRange");
        reasons[n++] = Reason(ISweepBatch.ZeroLegAmount.selector, "ZeroLegAmount");
        reasons[n++] = Reason(ISweepBatch.DuplicateToken.selector, "DuplicateToken");
        reasons[n++] = Reason(ISweepBatch.TokenIsOutput.selector, "TokenIsOutput");
        reasons[n++] = Reason(ISweepBatch.UnknownFunding.selector, "UnknownFunding");
        reasons[n++] = Reason(ISweepBatch.UnroutedLegInvalid.selector, "UnroutedLegInvalid");
        reasons[n++] = Reason(ISweepBatch.SelectorMissing.selector, "SelectorMissing");
        reasons[n++] = Reason(ISweepBatch.RouterNotAllowed.selector, "RouterNotAllowed");
        reasons[n++] = Reason(ISweepBatch.FundingNotAllowed.selector, "FundingNotAllowed");
        reasons[n++] = Reason(ISweepBatch.RouterIsToken.selector, "RouterIsToken");
        reasons[n++] = Reason(ISweepBatch.RouterWithoutCode.selector, "RouterWithoutCode");
        reasons[n++] = Reason(ISweepBatch.LegFailed.selector, "LegFailed");
        reasons[n++] = Reason(ISweepBatch.InsufficientUserOutput.selector, "InsufficientUserOutput");
        reasons[n++] = Reason(ISweepBatch.FeeTransferFailed.selector, "FeeTransferFailed");
        reasons[n++] = Reason(ISweepBatch.NativeTransferFailed.selector, "NativeTransferFailed");
        reasons[n++] = Reason(ISweepBatch.UnexpectedNative.selector, "UnexpectedNative");
        reasons[n++] = Reason(ISweepBatch.TotalFeeAboveCap.selector, "TotalFeeAboveCap");
        reasons[n++] = Reason(ISweepBatch.InvalidRecipient.selector, "InvalidRecipient");
        reasons[n++] = Reason(IRouterAllowList.RouterForbidden.selector, "RouterForbidden");
        reasons[n++] = Reason(IRouterAllowList.NotAContract.selector, "NotAContract");
        reasons[n++] = Reason(IRouterAllowList.NotAnExactInputSwap.selector, "NotAnExactInputSwap");
        reasons[n++] = Reason(IRouterAllowList.InvalidFundingModes.selector, "InvalidFundingModes");
        reasons[n++] = Reason(IRouterAllowList.SpenderMismatch.selector, "SpenderMismatch");
        reasons[n++] = Reason(IRouterAllowList.RouterNotListed.selector, "RouterNotListed");
        reasons[n++] = Reason(Pausable.ExpectedPause.selector, "ExpectedPause");
        reasons[n++] = Reason(IAccessManaged.AccessManagedUnauthorized.selector, "AccessManagedUnauthorized");
        // Permit2's, on the user's signature
        reasons[n++] = Reason(bytes4(keccak256("InvalidSigner()")), "InvalidSigner");
        reasons[n++] = Reason(bytes4(keccak256("InvalidContractSignature()")), "InvalidContractSignature");
        reasons[n++] = Reason(bytes4(keccak256("InvalidSignatureLength()")), "InvalidSignatureLength");
        reasons[n++] = Reason(bytes4(keccak256("InvalidNonce()")), "InvalidNonce");
        reasons[n++] = Reason(bytes4(keccak256("SignatureExpired(uint256)")), "SignatureExpired");
        reasons[n++] = Reason(bytes4(keccak256("Error(string)")), "TransferFromFailed"); // a token's
    }
}
