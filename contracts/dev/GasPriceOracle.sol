// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title GasPriceOracle
/// @notice Charges for the data of transactions as the predeploy of this name does on rollups of the OP stack between the
/// upgrades Ecotone and Fjord, and the operator's fee as since Isthmus, at prices that anyone may set: it is only used on a
/// local chain.
contract GasPriceOracle {
    uint256 private constant UNSIGNED_BYTES = 68;
    uint256 private constant SCALE = 1e6;

    uint256 private _weiPerUnit;
    uint256 private _operatorScalar;
    uint256 private _operatorConstant;

    function set(uint256 weiPerUnit, uint256 operatorScalar, uint256 operatorConstant) external {
        (_weiPerUnit, _operatorScalar, _operatorConstant) = (weiPerUnit, operatorScalar, operatorConstant);
    }

    function getL1Fee(bytes calldata data) external view returns (uint256) {
        uint256 units = UNSIGNED_BYTES * 16;
        for (uint256 i = 0; i < data.length; ++i) {
            units += data[i] == 0 ? 4 : 16;
        }
        return units * _weiPerUnit;
    }

    function getOperatorFee(uint256 gasUsed) external view returns (uint256) {
        return gasUsed * _operatorScalar / SCALE + _operatorConstant;
    }
}
