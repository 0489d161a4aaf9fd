// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV4} from "../src/interfaces/IServiceBatchV4.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title ClearSigning
/// @notice The ERC-7730 descriptor speaks of exactly the messages that the contracts have users sign; a wallet applies it to a
/// message whose type is one of its keys, to the letter. Its shape and its words are tested in Python.
contract ClearSigning is SweepTest {
    string private constant PERMIT_TYPE_START =
        "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,";
    string private descriptor;

    function setUp() public override {
        super.setUp();
        descriptor = vm.readFile("erc7730/eip712-sweep.json");
    }

    function test_the_described_messages_are_those_of_v5_and_v4_and_no_others() public {
        IServiceBatchV4 v4 = IServiceBatchV4(
            deployCode(
                _built("ServiceBatchV4"), abi.encode(address(manager), PERMIT2, address(weth), uint16(75), protocol)
            )
        );
        string[] memory types = vm.parseJsonKeys(descriptor, ".display.formats");
        assertEq(types.length, 2);
        assertEq(types[0], string.concat(PERMIT_TYPE_START, v5.WITNESS_TYPE_STRING()));
        assertEq(types[1], string.concat(PERMIT_TYPE_START, v4.WITNESS_TYPE_STRING()));
    }

    function test_an_output_in_the_native_coin_is_shown_as_such() public view {
        assertEq(vm.parseJsonAddress(descriptor, ".metadata.constants.nativeCurrency"), v5.NATIVE());
    }
}
