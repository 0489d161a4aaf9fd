// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {RoleSetup} from "./support/RoleSetup.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Roles
/// @notice With the roles of roles.json, calls that could harm users are delayed by two days in public, calls that
/// protect them take effect at once, and no role can do the work of another.
contract Roles is SweepTest, RoleSetup {
    bytes4 private constant SWAP = ISwapRouter02.exactInputSingle.selector;
    uint32 private constant DELAY = 2 days;

    function setUp() public override {
        super.setUp();
        _setUpRoles(manager, address(v5));
    }

    function _allowRouter() private view returns (bytes memory) {
        return abi.encodeCall(v5.allowRouter, (address(router), bytes4(0x414bf389), address(router)));
    }

    function test_every_admin_function_has_a_role() public view {
        _expectRoles("ServiceBatchV5PartnerFees");
        _expectRoles("ServiceBatchV4");
    }

    function _expectRoles(string memory name) private view {
        string memory json = vm.readFile(string.concat("out/", name, ".sol/", name, ".json"));
        uint256 adminFunctions = 0;
        for (uint256 i = 0; vm.keyExistsJson(json, _abiKey(i, "type")); ++i) {
            if (!_equal(vm.parseJsonString(json, _abiKey(i, "type")), "function")) continue;
            if (!_equal(vm.parseJsonString(json, _abiKey(i, "stateMutability")), "nonpayable")) continue;
            string memory functionName = vm.parseJsonString(json, _abiKey(i, "name"));
            bool isPublic = vm.indexOf(functionName, "sweep") == 0;
            if (isPublic || _equal(functionName, "setAuthority")) continue; // the latter is the manager's
            assertTrue(_hasRole(functionName), functionName);
            ++adminFunctions;
        }
        assertGe(adminFunctions, 8);
    }

    function _abiKey(uint256 i, string memory field) private pure returns (string memory) {
        return string.concat(".abi[", vm.toString(i), "].", field);
    }

    function _equal(string memory a, string memory b) private pure returns (bool) {
        return keccak256(bytes(a)) == keccak256(bytes(b));
    }

    // ---------------------------------------------------------------- delayed

    function test_allowing_a_router_takes_two_days() public {
        _expectDelayed(_allowRouter());
        assertEq(v5.allowedRouters().length, 4);
    }

    function test_listing_a_venue_takes_two_days() public {
        _expectDelayed(abi.encodeCall(v5.listVenue, (3, _v3Venue())));
        assertEq(v5.venues().length, 3);
    }

    function test_setting_the_fee_signer_takes_two_days() public {
        address next = makeAddr("next signer");
        _expectDelayed(abi.encodeCall(v5.setFeeSigner, (next, 1 hours)));
        assertEq(v5.feeSigner(), next);
    }

    function _expectDelayed(bytes memory call) private {
        bytes32 operation = manager.hashOperation(owner, address(v5), call);
        _expectRefused(call, abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, operation));
        vm.prank(owner);
        manager.schedule(address(v5), call, 0);
        vm.warp(block.timestamp + DELAY - 1);
        _expectRefused(call, abi.encodeWithSelector(IAccessManager.AccessManagerNotReady.selector, operation));
        vm.warp(block.timestamp + 1);
        vm.prank(owner);
        (bool succeeded,) = address(v5).call(call);
        assertTrue(succeeded);
        _expectRefused(call, abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, operation));
    }

    function _expectRefused(bytes memory call, bytes memory expected) private {
        vm.prank(owner);
        (bool succeeded, bytes memory reason) = address(v5).call(call);
        assertFalse(succeeded);
        assertEq(reason, expected);
    }

    function test_the_guardian_can_cancel_scheduled_calls() public {
        bytes memory call = _allowRouter();
        vm.prank(owner);
        (bytes32 operation,) = manager.schedule(address(v5), call, 0);
        vm.prank(guardian);
        manager.cancel(owner, address(v5), call);
        vm.warp(block.timestamp + DELAY);
        _expectRefused(call, abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, operation));
    }

    function test_the_owner_cannot_change_roles_or_the_authority_without_the_delay() public {
        bytes[] memory calls = new bytes[](4);
        calls[0] = abi.encodeCall(manager.grantRole, (CONFIGURATOR, makeAddr("accomplice"), 0));
        calls[1] = abi.encodeCall(manager.grantRole, (CONFIGURATOR, owner, 0));
        bytes4[] memory selectors = new bytes4[](1);
        selectors[0] = v5.allowRouter.selector;
        calls[2] = abi.encodeCall(manager.setTargetFunctionRole, (address(v5), selectors, OWNER));
        calls[3] = abi.encodeCall(manager.updateAuthority, (address(v5), address(router)));
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.prank(owner);
            (bool succeeded, bytes memory reason) = address(manager).call(calls[i]);
            assertFalse(succeeded);
            assertEq(bytes4(reason), IAccessManager.AccessManagerNotScheduled.selector);
        }
    }

    // ---------------------------------------------------------------- immediate

    function test_the_guardian_can_pause_and_only_the_owner_can_unpause() public {
        Sweep memory s = _usdcSweep();
        vm.prank(guardian);
        v5.pause();
        _expectRevert(s, abi.encodeWithSelector(Pausable.EnforcedPause.selector));
        vm.prank(guardian);
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, guardian));
        v5.unpause();
        vm.prank(owner);
        v5.unpause();
        _send(s);
    }

    function test_the_guardian_can_remove_a_router_without_delay() public {
        vm.prank(guardian);
        v5.removeRouter(address(router), SWAP);
        assertEq(v5.allowedRouters().length, 2);
    }

    function test_the_guardian_can_remove_a_venue_without_delay() public {
        vm.prank(guardian);
        v5.removeVenue(V3);
        assertEq(v5.venues().length, 1);
    }

    function test_the_guardian_can_revoke_a_fee_signer_without_delay() public {
        Sweep memory s = _usdcSweep();
        vm.prank(guardian);
        v5.revokeFeeSigner(signer);
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, address(0), digest));
    }

    function test_ops_can_cancel_an_authorization_without_delay() public {
        vm.prank(ops);
        v5.cancelAuthorization(7);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_the_owner_can_rescue_without_delay() public {
        _fund(address(usdc), address(v5), 5);
        vm.prank(owner);
        v5.rescue(address(usdc), user, 5);
        assertEq(usdc.balanceOf(user), 5);
    }

    // ---------------------------------------------------------------- separation

    function test_no_role_can_call_the_functions_of_another() public {
        bytes[] memory calls = new bytes[](10);
        calls[0] = _allowRouter();
        calls[1] = abi.encodeCall(v5.setFeeSigner, (user, 0));
        calls[2] = abi.encodeCall(v5.listVenue, (3, _v3Venue()));
        calls[3] = abi.encodeCall(v5.unpause, ());
        calls[4] = abi.encodeCall(v5.rescue, (address(usdc), user, 0));
        calls[5] = abi.encodeCall(v5.pause, ());
        calls[6] = abi.encodeCall(v5.removeRouter, (address(router), SWAP));
        calls[7] = abi.encodeCall(v5.revokeFeeSigner, (signer));
        calls[8] = abi.encodeCall(v5.removeVenue, (V3));
        calls[9] = abi.encodeCall(v5.cancelAuthorization, (7));
        for (uint256 i = 0; i < 10; ++i) {
            if (i >= 5) _expectUnauthorized(owner, calls[i]);
            if (i < 5 || i == 9) _expectUnauthorized(guardian, calls[i]);
            if (i != 9) _expectUnauthorized(ops, calls[i]);
            if (i != 9) _expectUnauthorized(signer, calls[i]);
            _expectUnauthorized(address(this), calls[i]); // the deployer
        }
    }

    function _expectUnauthorized(address who, bytes memory call) private {
        vm.prank(who);
        (bool succeeded, bytes memory reason) = address(v5).call(call);
        assertFalse(succeeded);
        assertEq(reason, abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, who));
    }
}
