// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IPermit2} from "../src/interfaces/IPermit2.sol";
import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {World} from "./support/World.sol";

/// @title VectorsV4
/// @notice The rollback contract, the real Permit2 and an independent implementation agree on every witness and signature. The
/// file is described in bin/make-vectors.mjs.
contract VectorsV4 is World {
    uint256 private constant COUNT = 5;
    string private json;
    IV4 private v4;

    function setUp() public override {
        super.setUp();
        json = vm.readFile("../tests/vectors/eip712_v4.json");
        address where = vm.parseJsonAddress(json, ".vectors[0].verifyingContract");
        bytes memory arguments = abi.encode(address(manager), PERMIT2, address(weth), uint16(75), address(this));
        deployCodeTo(_built("ServiceBatchV4"), arguments, where);
        v4 = IV4(where);
        assertFalse(vm.keyExistsJson(json, _key(COUNT, "")), "vectors that no test reads");
    }

    function test_the_witness_is_that_of_the_vectors() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            assertEq(v4.hashOrder(_order(i)), vm.parseJsonBytes32(json, _key(i, ".witness")));
        }
    }

    /// @dev Permit2 itself says that the user signed these tokens, this spender and this witness under our type string. Nothing
    /// is requested, so nothing moves.
    function test_permit2_accepts_the_signatures_for_our_witness_and_no_other() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            vm.chainId(vm.parseJsonUint(json, _key(i, ".chainId")));
            bytes32 witness = v4.hashOrder(_order(i));
            uint256 snapshot = vm.snapshotState(); // vectors share nonces
            _spendPermit(i, witness ^ bytes32(uint256(1)), "InvalidSigner()");
            _spendPermit(i, witness, "");
            _spendPermit(i, witness, "InvalidNonce()");
            vm.revertToState(snapshot);
        }
    }

    function _spendPermit(uint256 i, bytes32 witness, string memory expectedError) private {
        uint256 count = 0;
        while (vm.keyExistsJson(json, _tokenKey(i, count, ".token"))) ++count;
        IPermit2.TokenPermissions[] memory permitted = new IPermit2.TokenPermissions[](count);
        for (uint256 j = 0; j < count; ++j) {
            permitted[j] = IPermit2.TokenPermissions(
                vm.parseJsonAddress(json, _tokenKey(i, j, ".token")), vm.parseJsonUint(json, _tokenKey(i, j, ".amount"))
            );
        }
        IPermit2.PermitBatchTransferFrom memory permit = IPermit2.PermitBatchTransferFrom(
            permitted,
            vm.parseJsonUint(json, _key(i, ".permitNonce")),
            vm.parseJsonUint(json, _key(i, ".permitDeadline"))
        );
        bytes memory signature = vm.parseJsonBytes(json, _key(i, ".permitSignature"));
        string memory witnessTypeString = v4.WITNESS_TYPE_STRING();
        address user = vm.parseJsonAddress(json, ".user.address");
        IPermit2.SignatureTransferDetails[] memory nothing = new IPermit2.SignatureTransferDetails[](count);
        if (bytes(expectedError).length != 0) vm.expectRevert(abi.encodeWithSignature(expectedError));
        vm.prank(address(v4));
        IPermit2(PERMIT2).permitWitnessTransferFrom(permit, nothing, user, witness, witnessTypeString, signature);
    }

    function _order(uint256 i) private view returns (IV4.SweepOrderV4 memory) {
        return IV4.SweepOrderV4({
            outputToken: vm.parseJsonAddress(json, _key(i, ".order.outputToken")),
            minUserOutput: vm.parseJsonUint(json, _key(i, ".order.minUserOutput")),
            feeBps: uint16(vm.parseJsonUint(json, _key(i, ".order.feeBps"))),
            sweepRef: vm.parseJsonBytes32(json, _key(i, ".order.sweepRef"))
        });
    }

    function _key(uint256 i, string memory field) private pure returns (string memory) {
        return string.concat(".vectors[", vm.toString(i), "]", field);
    }

    function _tokenKey(uint256 i, uint256 j, string memory field) private pure returns (string memory) {
        return _key(i, string.concat(".permitted[", vm.toString(j), "]", field));
    }
}
