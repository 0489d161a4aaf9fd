// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IVenueList} from "../src/interfaces/IVenueList.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title PoolVectors
/// @notice The contract and an independent implementation agree on the addresses of pools. bin/make-pool-vectors.mjs
/// describes the file.
contract PoolVectors is SweepTest {
    uint256 private constant COUNT = 5;
    uint16 private constant FIRST_ID = 1000;
    string private json;

    function setUp() public override {
        super.setUp();
        json = vm.readFile("../tests/vectors/pools.json");
        assertFalse(vm.keyExistsJson(json, _key(COUNT, "")), "there are vectors that are not tested");
        for (uint16 i = 0; i < COUNT; ++i) {
            v5.listVenue(FIRST_ID + i, _venue(i));
        }
    }

    function test_the_addresses_of_pools_match_the_vectors_in_either_order_of_the_tokens() public view {
        for (uint16 i = 0; i < COUNT; ++i) {
            (address tokenA, address tokenB) = (_address(i, ".tokenA"), _address(i, ".tokenB"));
            uint24 fee = uint24(vm.parseJsonUint(json, _key(i, ".fee")));
            assertEq(v5.poolAddress(FIRST_ID + i, tokenA, tokenB, fee), _address(i, ".address"), _name(i));
            assertEq(v5.poolAddress(FIRST_ID + i, tokenB, tokenA, fee), _address(i, ".address"), _name(i));
        }
    }

    function _venue(uint256 i) private view returns (IVenueList.Venue memory venue) {
        bytes32 rule = keccak256(bytes(vm.parseJsonString(json, _key(i, ".saltRule"))));
        venue.deployer = _address(i, ".deployer");
        venue.initCodeHash = vm.parseJsonBytes32(json, _key(i, ".initCodeHash"));
        venue.callback = bytes4(keccak256("callback"));
        venue.kind = IVenueList.PoolKind.V3;
        if (rule == keccak256("Pair")) venue.saltRule = IVenueList.SaltRule.Pair;
        if (rule == keccak256("PackedPair")) {
            venue.saltRule = IVenueList.SaltRule.PackedPair;
            venue.kind = IVenueList.PoolKind.V2;
            venue.feeBps = 30;
        }
    }

    function _name(uint256 i) private view returns (string memory) {
        return vm.parseJsonString(json, _key(i, ".name"));
    }

    function _address(uint256 i, string memory field) private view returns (address) {
        return vm.parseJsonAddress(json, _key(i, field));
    }

    function _key(uint256 i, string memory field) private pure returns (string memory) {
        return string.concat(".pools[", vm.toString(i), "]", field);
    }
}
