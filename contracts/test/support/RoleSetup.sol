// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {Test} from "forge-std/Test.sol";

/// @title RoleSetup
/// @notice Gives the roles of roles.json out as a deployment does: each function to its role, each role to its holder with its
/// delay, the manager itself to the owner with a delay, and then nothing is left to who deployed.
abstract contract RoleSetup is Test {
    uint64 internal constant ADMIN = 0;
    uint64 internal constant OWNER = 1;
    uint64 internal constant CONFIGURATOR = 2;
    uint64 internal constant GUARDIAN = 3;
    uint64 internal constant OPS = 4;
    uint256 private constant ROLES = 4;

    address internal owner = makeAddr("owner");
    address internal guardian = makeAddr("guardian");
    address internal ops = makeAddr("ops");

    /// @dev The owner configures, too: one holder, but with the delay of the role it acts in.
    function _setUpRoles(IAccessManager manager, address target) internal {
        string memory json = vm.readFile("roles.json");
        for (uint256 i = 0; i < ROLES; ++i) {
            uint64 role = uint64(vm.parseJsonUint(json, _key(i, "id")));
            manager.setTargetFunctionRole(target, _selectors(json, i), role);
            manager.setRoleGuardian(role, uint64(vm.parseJsonUint(json, _key(i, "guardian"))));
            manager.grantRole(role, _holder(role), uint32(vm.parseJsonUint(json, _key(i, "executionDelaySeconds"))));
        }
        manager.grantRole(ADMIN, owner, _adminDelaySeconds());
        manager.renounceRole(ADMIN, address(this));
    }

    function _adminDelaySeconds() internal view returns (uint32) {
        return uint32(vm.parseJsonUint(vm.readFile("roles.json"), ".adminDelaySeconds"));
    }

    function _hasRole(string memory functionName) internal view returns (bool) {
        string memory json = vm.readFile("roles.json");
        for (uint256 i = 0; i < ROLES; ++i) {
            string[] memory signatures = vm.parseJsonStringArray(json, _key(i, "functions"));
            for (uint256 j = 0; j < signatures.length; ++j) {
                if (vm.indexOf(signatures[j], string.concat(functionName, "(")) == 0) return true;
            }
        }
        return false;
    }

    function _holder(uint64 role) private view returns (address) {
        if (role == GUARDIAN) return guardian;
        return role == OPS ? ops : owner;
    }

    function _selectors(string memory json, uint256 i) private pure returns (bytes4[] memory selectors) {
        string[] memory signatures = vm.parseJsonStringArray(json, _key(i, "functions"));
        selectors = new bytes4[](signatures.length);
        for (uint256 j = 0; j < signatures.length; ++j) {
            selectors[j] = bytes4(keccak256(bytes(signatures[j])));
        }
    }

    function _key(uint256 i, string memory field) private pure returns (string memory) {
        return string.concat(".roles[", vm.toString(i), "].", field);
    }
}
