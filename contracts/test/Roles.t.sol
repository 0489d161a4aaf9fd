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
/// @notice With the roles of roles.json: what could rob users waits two days in the open, what protects them works at once, and
/// nobody does another's work.
contract Roles is SweepTest, RoleSetup {
    bytes4 private constant SWAP = ISwapRouter02.exactInputSingle.selector;
    uint32 private constant DELAY = 2 days;

    function setUp() public override {
        super.setUp();
        _setUpRoles(manager, address(v5));
    }

    function _allowRouter() private view returns (bytes memory) {
        return abi.encodeCall(v5.allowRouter, (address(router), bytes4(0x414bf389), 1, address(router)));
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
            if (_equal(functionName, "sweep") || _equal(functionName, "setAuthority")) continue; // anybody's; the manager's
            assertTrue(_hasRole(functionName), functionName);
            ++adminFunctions;
        }
        assertGe(adminFunctions, 6);
    }

    function _abiKey(uint256 i, string memory field) private pure returns (string memory) {
        return string.concat(".abi[", vm.toString(i), "].", field);
    }

    function _equal(string memory a, string memory b) private pure returns (bool) {
        return keccak256(bytes(a)) == keccak256(bytes(b));
    }

    // ---------------------------------------------------------------- delayed

    function test_adding_a_router_waits_two_days() public {
        _expectDelayed(_allowRouter());
        assertEq(v5.allowedRouters().length, 4);
    }

    function test_setting_the_fee_signer_waits_two_days() public {
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

    function test_the_guardian_cancels_what_is_scheduled() public {
        bytes memory call = _allowRouter();
        vm.prank(owner);
        (bytes32 operation,) = manager.schedule(address(v5), call, 0);
        vm.prank(guardian);
        manager.cancel(owner, address(v5), call);
        vm.warp(block.timestamp + DELAY);
        _expectRefused(call, abi.encodeWithSelector(IAccessManager.AccessManagerNotScheduled.selector, operation));
    }

    function test_the_owner_changes_no_role_and_no_manager_without_the_delay() public {
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

    function test_the_guardian_stops_sweeps_at_once_and_the_owner_lets_them_run_again() public {
        Sweep memory s = _usdcSweep(APPROVED);
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

    function test_the_guardian_removes_a_router_at_once() public {
        vm.prank(guardian);
        v5.removeRouter(address(router), SWAP);
        assertEq(v5.allowedRouters().length, 2);
    }

    function test_the_guardian_revokes_a_fee_signer_at_once() public {
        Sweep memory s = _usdcSweep(APPROVED);
        vm.prank(guardian);
        v5.revokeFeeSigner(signer);
        bytes32 digest = v5.hashAuthorization(s.authorization);
        _expectRevert(s, abi.encodeWithSelector(IV5.InvalidAuthorizationSignature.selector, address(0), digest));
    }

    function test_ops_cancels_an_authorization_at_once() public {
        vm.prank(ops);
        v5.cancelAuthorization(7);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_the_owner_rescues_at_once() public {
        _fund(address(usdc), address(v5), 5);
        vm.prank(owner);
        v5.rescue(address(usdc), user, 5);
        assertEq(usdc.balanceOf(user), 5);
    }

    // ---------------------------------------------------------------- nobody else's

    function test_nobody_does_anothers_work() public {
        bytes[] memory calls = new bytes[](8);
        calls[0] = _allowRouter();
        calls[1] = abi.encodeCall(v5.setFeeSigner, (user, 0));
        calls[2] = abi.encodeCall(v5.unpause, ());
        calls[3] = abi.encodeCall(v5.rescue, (address(usdc), user, 0));
        calls[4] = abi.encodeCall(v5.pause, ());
        calls[5] = abi.encodeCall(v5.removeRouter, (address(router), SWAP));
        calls[6] = abi.encodeCall(v5.revokeFeeSigner, (signer));
        calls[7] = abi.encodeCall(v5.cancelAuthorization, (7));
        for (uint256 i = 0; i < 8; ++i) {
            if (i >= 4) _expectUnauthorized(owner, calls[i]);
            if (i < 4 || i == 7) _expectUnauthorized(guardian, calls[i]);
            if (i != 7) _expectUnauthorized(ops, calls[i]);
            if (i != 7) _expectUnauthorized(signer, calls[i]);
            _expectUnauthorized(address(this), calls[i]); // who deployed
        }
    }

    function _expectUnauthorized(address who, bytes memory call) private {
        vm.prank(who);
        (bool succeeded, bytes memory reason) = address(v5).call(call);
        assertFalse(succeeded);
        assertEq(reason, abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, who));
    }
}
