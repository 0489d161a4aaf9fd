// SPDX-License-Identifier: UNLICENSED
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {CallingRecipient, CallingToken} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @title Reentrancy
/// @notice Whatever a token or a recipient calls in the middle of a sweep, it gets neither another sweep nor an admin function.
contract Reentrancy is SweepTest {
    bytes private constant REFUSED =
        abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
    CallingToken private calling;

    function setUp() public override {
        super.setUp();
        calling = new CallingToken();
        _addPools(calling, 1e24);
    }

    function _entryPoints() private view returns (bytes[] memory calls) {
        Sweep memory empty;
        calls = new bytes[](9);
        calls[0] = abi.encodeCall(v5.sweep, (empty.legs, empty.order, empty.authorization, "", 0, 0, ""));
        calls[1] = abi.encodeCall(v5.allowRouter, (address(router), 0x11223344, 2, address(0)));
        calls[2] = abi.encodeCall(v5.removeRouter, (address(router), 0x11223344));
        calls[3] = abi.encodeCall(v5.pause, ());
        calls[4] = abi.encodeCall(v5.unpause, ());
        calls[6] = abi.encodeCall(v5.revokeFeeSigner, (signer));
        calls[7] = abi.encodeCall(v5.cancelAuthorization, (9));
        calls[8] = abi.encodeCall(v5.rescue, (address(calling), user, 1));
        calls[5] = abi.encodeCall(v5.setFeeSigner, (user, 0));
    }

    function test_a_token_cannot_enter_again_from_its_transfer() public {
        bytes[] memory calls = _entryPoints();
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            for (uint256 i = 0; i < calls.length; ++i) {
                uint256 snapshot = vm.snapshotState();
                manager.grantRole(0, address(calling), 0); // even if it were the administrator
                Sweep memory s = _sweep(_legs(_v3Leg(calling, 1e18, funding)), address(weth));
                calling.arm(address(v5), calls[i]);
                _send(s);
                assertTrue(calling.called());
                assertFalse(calling.succeeded());
                assertEq(calling.answer(), REFUSED);
                vm.revertToState(snapshot);
            }
        }
    }

    function test_the_manager_cannot_act_from_inside_a_sweep() public {
        manager.grantRole(0, address(calling), 0);
        Sweep memory s = _sweep(_legs(_v3Leg(calling, 1e18, APPROVED)), address(weth));
        bytes memory viaManager = abi.encodeCall(IAccessManager.execute, (address(v5), abi.encodeCall(v5.pause, ())));
        calling.arm(address(manager), viaManager);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertTrue(calling.called());
        assertFalse(calling.succeeded());
        assertEq(calling.answer(), REFUSED);
        vm.revertToState(snapshot);

        calling.arm(address(manager), abi.encodeCall(IAccessManager.updateAuthority, (address(v5), address(router))));
        _send(s);
        assertFalse(calling.succeeded());
        assertEq(calling.answer(), REFUSED);
        assertEq(IAccessManaged(address(v5)).authority(), address(manager));
    }

    function test_a_recipient_cannot_enter_again_from_its_payment() public {
        CallingRecipient recipient = new CallingRecipient();
        bytes[] memory calls = _entryPoints();
        recipient.arm(address(v5), calls[0]);
        Sweep memory s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.authorization.partnerRecipient = address(recipient);
        _sign(s);
        _send(s);
        assertEq(recipient.refusal(), bytes4(REFUSED));
        assertGt(address(recipient).balance, 0);
    }
}
