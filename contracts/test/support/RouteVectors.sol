// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IPermit2} from "../../src/interfaces/IPermit2.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {World} from "./World.sol";

/// @title RouteVectors
/// @notice Reads a file of vectors, and spends its permits at the real Permit2. bin/make-vectors.mjs describes the files.
abstract contract RouteVectors is World {
    uint256 internal constant COUNT = 5;
    string internal json;

    function _open(string memory file) internal {
        json = vm.readFile(file);
        assertFalse(vm.keyExistsJson(json, _key(COUNT, "")), "there are vectors that are not tested");
    }

    /// @dev Permit2 confirms that the user signed these tokens, this spender and this witness under our type string.
    function _testPermit(uint256 i, address spender, string memory witnessType) internal {
        vm.chainId(_uint(i, ".chainId"));
        bytes32 witness = vm.parseJsonBytes32(json, _key(i, ".witness"));
        uint256 snapshot = vm.snapshotState(); // vectors share nonces
        _spendPermit(i, spender, witness ^ bytes32(uint256(1)), witnessType, "InvalidSigner()");
        _spendPermit(i, spender, witness, witnessType, "");
        _spendPermit(i, spender, witness, witnessType, "InvalidNonce()");
        vm.revertToState(snapshot);
    }

    /// @dev The requested amounts are zero, so nothing is transferred.
    function _spendPermit(
        uint256 i,
        address spender,
        bytes32 witness,
        string memory witnessType,
        string memory expectedError
    ) private {
        ISweepBatch.Leg[] memory legs = _route(i).legs;
        IPermit2.TokenPermissions[] memory permitted = new IPermit2.TokenPermissions[](legs.length);
        for (uint256 j = 0; j < legs.length; ++j) {
            permitted[j] = IPermit2.TokenPermissions(legs[j].token, legs[j].amount);
        }
        IPermit2.PermitBatchTransferFrom memory permit =
            IPermit2.PermitBatchTransferFrom(permitted, _uint(i, ".permitNonce"), _uint(i, ".permitDeadline"));
        string memory typeString = string.concat(witnessType, "TokenPermissions(address token,uint256 amount)");
        bytes memory signature = _bytes(i, ".permitSignature");
        address owner = _signingUser();
        IPermit2.SignatureTransferDetails[] memory nothing = new IPermit2.SignatureTransferDetails[](legs.length);
        if (bytes(expectedError).length != 0) vm.expectRevert(abi.encodeWithSignature(expectedError));
        vm.prank(spender);
        IPermit2(PERMIT2).permitWitnessTransferFrom(permit, nothing, owner, witness, typeString, signature);
    }

    function _recover(bytes32 digest, bytes memory signature) internal pure returns (address) {
        (bytes32 r, bytes32 s, uint8 v) = (bytes32(signature), _word(signature, 32), uint8(signature[64]));
        return ecrecover(digest, v, r, s);
    }

    function _word(bytes memory data, uint256 offset) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 0x20), offset))
        }
    }

    // ---------------------------------------------------------------- reading the file

    function _route(uint256 i) internal view returns (ISweepBatch.Route memory route) {
        route.legs = new ISweepBatch.Leg[](_length(i, ".route.legs"));
        for (uint256 j = 0; j < route.legs.length; ++j) {
            string memory leg = string.concat(".route.legs[", vm.toString(j), "]");
            route.legs[j] = ISweepBatch.Leg({
                token: _address(i, string.concat(leg, ".token")),
                amount: _uint(i, string.concat(leg, ".amount")),
                floor: _uint(i, string.concat(leg, ".floor")),
                hop: _uint(i, string.concat(leg, ".packedHop"))
            });
        }
        route.lastHop = _uint(i, ".route.packedLastHop");
        route.maxSkipped = _uint(i, ".route.maxSkipped");
        route.routerCalls = new ISweepBatch.RouterCall[](_length(i, ".route.routerCalls"));
        for (uint256 j = 0; j < route.routerCalls.length; ++j) {
            string memory call = string.concat(".route.routerCalls[", vm.toString(j), "]");
            route.routerCalls[j] = ISweepBatch.RouterCall({
                leg: _uint(i, string.concat(call, ".leg")),
                router: _address(i, string.concat(call, ".router")),
                data: _bytes(i, string.concat(call, ".data"))
            });
        }
    }

    function _signingUser() internal view returns (address) {
        return vm.parseJsonAddress(json, ".user.address");
    }

    function _name(uint256 i) internal view returns (string memory) {
        return vm.parseJsonString(json, _key(i, ".name"));
    }

    function _address(uint256 i, string memory field) internal view returns (address) {
        return vm.parseJsonAddress(json, _key(i, field));
    }

    function _uint(uint256 i, string memory field) internal view returns (uint256) {
        return vm.parseJsonUint(json, _key(i, field));
    }

    function _bytes(uint256 i, string memory field) internal view returns (bytes memory) {
        return vm.parseJsonBytes(json, _key(i, field));
    }

    function _key(uint256 i, string memory field) internal pure returns (string memory) {
        return string.concat(".vectors[", vm.toString(i), "]", field);
    }

    function _length(uint256 i, string memory list) private view returns (uint256 length) {
        while (vm.keyExistsJson(json, _key(i, string.concat(list, "[", vm.toString(length), "]")))) ++length;
    }
}
