// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IServiceBatchV4} from "./interfaces/IServiceBatchV4.sol";
import {SweepBatch} from "./SweepBatch.sol";

/// @title ServiceBatchV4
/// @notice Executes sweeps that the user signed and takes one configured fee: the fallback if partner fees on chain
/// must be off.
contract ServiceBatchV4 is IServiceBatchV4, SweepBatch {
    uint256 private constant SWEEP_ORDER_SIZE = 4 * 32;
    bytes32 private constant SWEEP_ORDER_TYPEHASH =
        keccak256("SweepOrderV4(address outputToken,uint256 minUserOutput,uint16 feeBps,bytes32 sweepRef)");
    /// @inheritdoc IServiceBatchV4
    string public constant WITNESS_TYPE_STRING =
        "SweepOrderV4 witness)SweepOrderV4(address outputToken,uint256 minUserOutput,uint16 feeBps,bytes32 sweepRef)TokenPermissions(address token,uint256 amount)";

    /// @inheritdoc IServiceBatchV4
    /// @dev Shares a storage slot with the pause flag, which is last in SweepBatch's storage, and with the fee
    /// recipient: a single cold read loads all three.
    uint16 public feeBps;
    /// @inheritdoc IServiceBatchV4
    address public feeRecipient;

    /// @inheritdoc IServiceBatchV4
    mapping(address user => mapping(bytes32 sweepRef => bool used)) public isSweepRefUsed;

    constructor(
        address authority,
        address permit2,
        address wrappedNative,
        uint16 initialFeeBps,
        address initialFeeRecipient
    ) SweepBatch(authority, permit2, wrappedNative) {
        _setFee(initialFeeBps, initialFeeRecipient);
    }

    /// @inheritdoc IServiceBatchV4
    function sweep(
        Leg[] calldata legs,
        SweepOrderV4 calldata order,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external nonReentrant whenNotPaused {
        uint16 configuredBps = feeBps;
        if (order.feeBps != configuredBps) revert FeeMismatch(order.feeBps, configuredBps);
        if (isSweepRefUsed[msg.sender][order.sweepRef]) revert SweepRefAlreadyUsed(msg.sender, order.sweepRef);
        isSweepRefUsed[msg.sender][order.sweepRef] = true;

        address outputToken = order.outputToken;
        uint256 grossOutput = _runLegs(
            legs,
            outputToken,
            SignedPermit(permitNonce, permitDeadline, hashOrder(order), WITNESS_TYPE_STRING),
            permitSignature
        );

        uint256 fee = Math.mulDiv(grossOutput, configuredBps, BPS_DENOMINATOR);
        uint256 userAmount = grossOutput - fee;
        _unwrapIfNative(outputToken, grossOutput);
        _payFee(outputToken, feeRecipient, fee);
        _payUser(outputToken, userAmount, order.minUserOutput);
        emit SweepExecutedV4(order.sweepRef, msg.sender, outputToken, legs.length, grossOutput, fee, userAmount);
    }

    /// @inheritdoc IServiceBatchV4
    function setFee(uint16 newFeeBps, address newFeeRecipient) external nonReentrant restricted {
        _setFee(newFeeBps, newFeeRecipient);
    }

    /// @inheritdoc IServiceBatchV4
    function hashOrder(SweepOrderV4 calldata order) public pure returns (bytes32) {
        uint256 offset;
        assembly ("memory-safe") {
            offset := order
        }
        return _hashStruct(SWEEP_ORDER_TYPEHASH, offset, SWEEP_ORDER_SIZE);
    }

    function _setFee(uint16 newFeeBps, address newFeeRecipient) private {
        _checkFeeCap(newFeeBps);
        _checkRecipient(newFeeRecipient, newFeeBps != 0);
        (feeBps, feeRecipient) = (newFeeBps, newFeeRecipient);
        emit FeeChanged(newFeeBps, newFeeRecipient);
    }
}
