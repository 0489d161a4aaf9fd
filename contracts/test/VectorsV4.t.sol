// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {RouteVectors} from "./support/RouteVectors.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";
import {World} from "./support/World.sol";

/// @title VectorsV4
/// @notice The digest that all V4 sweeps of these tests sign, the real Permit2 and an independent implementation agree.
/// bin/make-vectors.mjs describes the file.
contract VectorsV4 is SweepV4Test, RouteVectors {
    function setUp() public override(SweepV4Test, World) {
        super.setUp();
        _open("../tests/vectors/eip712_v4.json");
        address where = vm.parseJsonAddress(json, ".vectors[0].verifyingContract");
        bytes memory arguments = abi.encode(address(manager), PERMIT2, address(weth), uint16(75), address(this));
        deployCodeTo(_artifact("ServiceBatchV4"), arguments, where);
        v4 = IV4(where);
    }

    function test_the_permit_digest_matches_the_vectors_and_recovers_the_user() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            vm.chainId(_uint(i, ".chainId"));
            SweepV4 memory s;
            (s.route, s.order) = (_route(i), _order(i));
            (s.permitNonce, s.permitDeadline) = (_uint(i, ".permitNonce"), _uint(i, ".permitDeadline"));
            bytes32 digest = _permitDigestV4(s);
            assertEq(digest, vm.parseJsonBytes32(json, _key(i, ".permitDigest")), _name(i));
            assertEq(_recover(digest, _bytes(i, ".permitSignature")), _signingUser(), _name(i));
        }
    }

    function test_permit2_accepts_the_signatures_for_our_witness_only() public {
        for (uint256 i = 0; i < COUNT; ++i) {
            _testPermit(i, address(v4), string.concat("SweepOrderV4 witness)", ORDER_TYPE_V4));
        }
    }

    function _order(uint256 i) private view returns (IV4.SweepOrderV4 memory) {
        return IV4.SweepOrderV4({
            outputToken: _address(i, ".order.outputToken"),
            feeBps: uint16(_uint(i, ".order.feeBps")),
            sweepRef: vm.parseJsonBytes32(json, _key(i, ".order.sweepRef"))
        });
    }
}
