// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {RouteVectors} from "./support/RouteVectors.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {World} from "./support/World.sol";

/// @title Vectors
/// @notice The contract, the real Permit2 and an independent implementation agree on all hashes and signatures; of the
/// user's digest, it is the one that all sweeps of these tests sign. bin/make-vectors.mjs describes the file.
contract Vectors is SweepTest, RouteVectors {
    function setUp() public override(SweepTest, World) {
        super.setUp();
        _open("../tests/vectors/eip712.json");
        address where = vm.parseJsonAddress(json, ".vectors[0].verifyingContract");
        bytes memory arguments =
            abi.encode(address(manager), PERMIT2, address(weth), vm.parseJsonAddress(json, ".feeSigner.address"));
        deployCodeTo(_artifact("ServiceBatchV5PartnerFees"), arguments, where);
        v5 = IV5(where);
    }

    function test_the_legs_hash_matches_the_vectors() public view {
        for (uint256 i = 0; i < COUNT; ++i) {
            assertEq(v5.hashLegs(_route(i)), vm.parseJsonBytes32(json, _key(i, ".legsHash")), _name(i));
        }
    }

    function test_the_authorization_digest_matches_the_vectors_and_recovers_the_signer() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            vm.chainId(_uint(i, ".chainId"));
            bytes32 digest = v5.hashAuthorization(_authorization(i));
            assertEq(digest, vm.parseJsonBytes32(json, _key(i, ".authorizationDigest")), _name(i));
            assertEq(_recover(digest, _bytes(i, ".authorizationSignature")), v5.feeSigner(), _name(i));
        }
    }

    function test_the_permit_digest_matches_the_vectors_and_recovers_the_user() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            vm.chainId(_uint(i, ".chainId"));
            Sweep memory s;
            (s.route, s.authorization) = (_route(i), _authorization(i));
            (s.permitNonce, s.permitDeadline) = (_uint(i, ".permitNonce"), _uint(i, ".permitDeadline"));
            bytes32 digest = _permitDigest(s);
            assertEq(digest, vm.parseJsonBytes32(json, _key(i, ".permitDigest")), _name(i));
            assertEq(_recover(digest, _bytes(i, ".permitSignature")), _signingUser(), _name(i));
        }
    }

    function test_permit2_accepts_the_signatures_for_our_witness_only() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            _testPermit(i, address(v5), string.concat("SweepOrder witness)", ORDER_TYPE));
        }
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
}
