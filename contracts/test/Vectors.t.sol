// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IPermit2} from "../src/interfaces/IPermit2.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {World} from "./support/World.sol";

/// @title Vectors
/// @notice The contract, the real Permit2 and an independent implementation agree on every hash and signature. The file is
/// described in bin/make-vectors.mjs.
contract Vectors is World {
    uint256 private constant COUNT = 5;
    string private json;
    IV5 private v5;

    function setUp() public override {
        super.setUp();
        json = vm.readFile("../tests/vectors/eip712.json");
        address where = vm.parseJsonAddress(json, ".vectors[0].verifyingContract");
        bytes memory arguments =
            abi.encode(address(manager), PERMIT2, address(weth), vm.parseJsonAddress(json, ".feeSigner.address"));
        deployCodeTo(_built("ServiceBatchV5PartnerFees"), arguments, where);
        v5 = IV5(where);
        assertFalse(vm.keyExistsJson(json, _key(COUNT, "")), "vectors that no test reads");
    }

    function test_the_legs_hash_is_that_of_the_vectors() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            assertEq(v5.hashLegs(_legs(i)), vm.parseJsonBytes32(json, _key(i, ".legsHash")), _name(i));
        }
    }

    function test_the_witness_is_that_of_the_vectors() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            assertEq(v5.hashOrder(_order(i)), vm.parseJsonBytes32(json, _key(i, ".witness")), _name(i));
        }
    }

    function test_the_authorization_digest_is_that_of_the_vectors_and_its_signer_is_recovered() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            vm.chainId(_uint(i, ".chainId"));
            bytes32 digest = v5.hashAuthorization(_authorization(i));
            assertEq(digest, vm.parseJsonBytes32(json, _key(i, ".authorizationDigest")), _name(i));
            assertEq(_recover(digest, _bytes(i, ".authorizationSignature")), v5.feeSigner(), _name(i));
        }
    }

    function test_the_permit_digest_recovers_the_user() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            bytes32 digest = vm.parseJsonBytes32(json, _key(i, ".permitDigest"));
            assertEq(_recover(digest, _bytes(i, ".permitSignature")), _user(), _name(i));
        }
    }

    /// @dev Permit2 itself says that the user signed these tokens, this spender and this witness under our type string. Nothing
    /// is requested, so nothing moves.
    function test_permit2_accepts_the_signatures_for_our_witness_and_no_other() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            vm.chainId(_uint(i, ".chainId"));
            bytes32 witness = v5.hashOrder(_order(i));
            uint256 snapshot = vm.snapshotState(); // vectors share nonces
            _spendPermit(i, witness ^ bytes32(uint256(1)), "InvalidSigner()");
            _spendPermit(i, witness, "");
            _spendPermit(i, witness, "InvalidNonce()");
            vm.revertToState(snapshot);
        }
    }

    function _spendPermit(uint256 i, bytes32 witness, string memory expectedError) private {
        ISweepBatch.Leg[] memory legs = _legs(i);
        IPermit2.TokenPermissions[] memory permitted = new IPermit2.TokenPermissions[](legs.length);
        for (uint256 j = 0; j < legs.length; ++j) {
            permitted[j] = IPermit2.TokenPermissions(legs[j].token, legs[j].amount);
        }
        IPermit2.PermitBatchTransferFrom memory permit =
            IPermit2.PermitBatchTransferFrom(permitted, _uint(i, ".permitNonce"), _uint(i, ".permitDeadline"));
        bytes memory signature = _bytes(i, ".permitSignature");
        string memory witnessTypeString = v5.WITNESS_TYPE_STRING();
        address user = _user();
        IPermit2.SignatureTransferDetails[] memory nothing = new IPermit2.SignatureTransferDetails[](legs.length);
        if (bytes(expectedError).length != 0) vm.expectRevert(abi.encodeWithSignature(expectedError));
        vm.prank(address(v5));
        IPermit2(PERMIT2).permitWitnessTransferFrom(permit, nothing, user, witness, witnessTypeString, signature);
    }

    // ---------------------------------------------------------------- reading the file

    function _legs(uint256 i) private view returns (ISweepBatch.Leg[] memory legs) {
        uint256 count = 0;
        while (vm.keyExistsJson(json, _legKey(i, count, ""))) ++count;
        legs = new ISweepBatch.Leg[](count);
        for (uint256 j = 0; j < count; ++j) {
            legs[j] = ISweepBatch.Leg({
                token: vm.parseJsonAddress(json, _legKey(i, j, ".token")),
                amount: vm.parseJsonUint(json, _legKey(i, j, ".amount")),
                router: vm.parseJsonAddress(json, _legKey(i, j, ".router")),
                funding: uint8(vm.parseJsonUint(json, _legKey(i, j, ".funding"))),
                data: vm.parseJsonBytes(json, _legKey(i, j, ".data"))
            });
        }
    }

    function _order(uint256 i) private view returns (IV5.SweepOrder memory) {
        return IV5.SweepOrder({
            outputToken: _address(i, ".order.outputToken"),
            minUserOutput: _uint(i, ".order.minUserOutput"),
            totalFeeBps: uint16(_uint(i, ".order.totalFeeBps")),
            partnerId: vm.parseJsonBytes32(json, _key(i, ".order.partnerId")),
            authorizationNonce: _uint(i, ".order.authorizationNonce")
        });
    }

    function _authorization(uint256 i) private view returns (IV5.FeeAuthorization memory) {
        return IV5.FeeAuthorization({
            user: _address(i, ".authorization.user"),
            partnerId: vm.parseJsonBytes32(json, _key(i, ".authorization.partnerId")),
            partnerRecipient: _address(i, ".authorization.partnerRecipient"),
            protocolRecipient: _address(i, ".authorization.protocolRecipient"),
            outputToken: _address(i, ".authorization.outputToken"),
            totalFeeBps: uint16(_uint(i, ".authorization.totalFeeBps")),
            partnerShareBps: uint16(_uint(i, ".authorization.partnerShareBps")),
            nonce: _uint(i, ".authorization.nonce"),
            deadline: _uint(i, ".authorization.deadline"),
            legsHash: vm.parseJsonBytes32(json, _key(i, ".authorization.legsHash"))
        });
    }

    function _user() private view returns (address) {
        return vm.parseJsonAddress(json, ".user.address");
    }

    function _name(uint256 i) private view returns (string memory) {
        return vm.parseJsonString(json, _key(i, ".name"));
    }

    function _address(uint256 i, string memory field) private view returns (address) {
        return vm.parseJsonAddress(json, _key(i, field));
    }

    function _uint(uint256 i, string memory field) private view returns (uint256) {
        return vm.parseJsonUint(json, _key(i, field));
    }

    function _bytes(uint256 i, string memory field) private view returns (bytes memory) {
        return vm.parseJsonBytes(json, _key(i, field));
    }

    function _key(uint256 i, string memory field) private pure returns (string memory) {
        return string.concat(".vectors[", vm.toString(i), "]", field);
    }

    function _legKey(uint256 i, uint256 j, string memory field) private pure returns (string memory) {
        return _key(i, string.concat(".legs[", vm.toString(j), "]", field));
    }

    function _recover(bytes32 digest, bytes memory signature) private pure returns (address) {
        (bytes32 r, bytes32 s, uint8 v) = (bytes32(signature), _word(signature, 32), uint8(signature[64]));
        return ecrecover(digest, v, r, s);
    }

    function _word(bytes memory data, uint256 offset) private pure returns (bytes32 word) {
        assembly ("memory-safe") {
            word := mload(add(add(data, 0x20), offset))
        }
    }
}
