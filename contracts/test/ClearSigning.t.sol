// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {SweepV4Test} from "./support/SweepV4Test.sol";

/// @title ClearSigning
/// @notice The ERC-7730 descriptor covers exactly the messages that users sign in all tests of the contracts: a wallet
/// applies it to a message whose type string equals one of its keys. Its schema and its texts are tested in Python.
contract ClearSigning is SweepV4Test {
    string private constant PERMIT_TYPE_START =
        "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,";
    string private constant PERMIT_TYPE_END = "TokenPermissions(address token,uint256 amount)";
    string private descriptor;

    function setUp() public override {
        super.setUp();
        descriptor = vm.readFile("erc7730/eip712-sweep.json");
    }

    function test_the_descriptor_covers_exactly_the_messages_of_v5_and_v4() public view {
        string[] memory types = vm.parseJsonKeys(descriptor, ".display.formats");
        assertEq(types.length, 2);
        assertEq(types[0], string.concat(PERMIT_TYPE_START, "SweepOrder witness)", ORDER_TYPE, PERMIT_TYPE_END));
        assertEq(types[1], string.concat(PERMIT_TYPE_START, "SweepOrderV4 witness)", ORDER_TYPE_V4, PERMIT_TYPE_END));
    }

    function test_the_descriptor_knows_the_placeholder_of_the_native_coin() public view {
        assertEq(vm.parseJsonAddress(descriptor, ".metadata.constants.nativeCurrency"), NATIVE);
    }
}
