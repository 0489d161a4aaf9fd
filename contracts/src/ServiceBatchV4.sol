// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IServiceBatchV4} from "./interfaces/IServiceBatchV4.sol";
import {Itinerary} from "./Itinerary.sol";
import {SweepBatch} from "./SweepBatch.sol";

/// @title ServiceBatchV4
/// @notice Executes sweeps that the user signed and takes one configured fee: the fallback if partner fees on chain
/// must be off.
contract ServiceBatchV4 is IServiceBatchV4, SweepBatch {
    bytes32 private constant SWEEP_ORDER_TYPEHASH =
        keccak256("SweepOrderV4(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 feeBps,bytes32 sweepRef)");
    string private constant WITNESS_TYPE_STRING =
        "SweepOrderV4 witness)SweepOrderV4(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 feeBps,bytes32 sweepRef)TokenPermissions(address token,uint256 amount)";

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
        Route calldata route,
        SweepOrderV4 calldata order,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external nonReentrant whenNotPaused {
        _sweep(_signedItinerary(route, _noPermits(), permitNonce, permitDeadline, permitSignature), route, order);
    }

    /// @inheritdoc IServiceBatchV4
    function sweepWithPermits(
        Route calldata route,
        SweepOrderV4 calldata order,
        TokenPermit[] calldata permits,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external nonReentrant whenNotPaused {
        _sweep(_signedItinerary(route, permits, permitNonce, permitDeadline, permitSignature), route, order);
    }

    /// @inheritdoc IServiceBatchV4
    function sweepAsCaller(Route calldata route, SweepOrderV4 calldata order) external nonReentrant whenNotPaused {
        _sweep(_callersItinerary(route), route, order);
    }

    /// @inheritdoc IServiceBatchV4
    function setFee(uint16 newFeeBps, address newFeeRecipient) external nonReentrant restricted {
        _setFee(newFeeBps, newFeeRecipient);
    }

    function _hashOrder(Route calldata route, SweepOrderV4 calldata order) private pure returns (bytes32) {
        return keccak256(
            abi.encode(
                SWEEP_ORDER_TYPEHASH,
                order.outputToken,
                _hashFloors(route.legs),
                route.maxSkipped,
                order.feeBps,
                order.sweepRef
            )
        );
    }

    function _sweep(Itinerary itinerary, Route calldata route, SweepOrderV4 calldata order) private {
        uint16 configuredBps = feeBps;
        if (order.feeBps != configuredBps) revert FeeMismatch(order.feeBps, configuredBps);
        bytes32 sweepRef = order.sweepRef;
        if (isSweepRefUsed[msg.sender][sweepRef]) revert SweepRefAlreadyUsed(msg.sender, sweepRef);
        isSweepRefUsed[msg.sender][sweepRef] = true;

        address outputToken = order.outputToken;
        (uint256 grossOutput, uint256 minimum) =
            _runLegs(itinerary, route, outputToken, configuredBps, uint256(sweepRef), _hashOrder(route, order));

        uint256 fee = Math.mulDiv(grossOutput, configuredBps, BPS_DENOMINATOR);
        uint256 userAmount = grossOutput - fee;
        _unwrapIfNative(outputToken, grossOutput);
        _payFee(outputToken, feeRecipient, fee);
        _payUser(outputToken, userAmount, minimum);
        emit SweepExecutedV4(sweepRef, msg.sender, outputToken, itinerary.count(), grossOutput, fee, userAmount);
    }

    function _witnessTypeString() internal pure override returns (string memory) {
        return WITNESS_TYPE_STRING;
    }

    function _setFee(uint16 newFeeBps, address newFeeRecipient) private {
        _checkFeeCap(newFeeBps);
        _checkRecipient(newFeeRecipient, newFeeBps != 0);
        (feeBps, feeRecipient) = (newFeeBps, newFeeRecipient);
        emit FeeChanged(newFeeBps, newFeeRecipient);
    }
}
