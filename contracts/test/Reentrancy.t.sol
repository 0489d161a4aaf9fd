// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {CallbackRecipient, CallbackToken} from "./support/Hostile.sol";
import {
    HostileRouter,
    ReentrancyAttacker,
    ReentrantRecipient,
    ReentrantToken,
    ReentrantWallet
} from "./support/ReentrancyActors.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Reentrancy
/// @notice Nothing that is called during a sweep can call another sweep or an admin function, in either contract.
contract Reentrancy is SweepV4Test {
    bytes private constant REFUSED =
        abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
    CallbackToken private callbackToken;

    function setUp() public override {
        super.setUp();
        callbackToken = new CallbackToken();
        _addPools(callbackToken, 1e24);
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
        calls[8] = abi.encodeCall(v5.rescue, (address(callbackToken), user, 1));
        calls[5] = abi.encodeCall(v5.setFeeSigner, (user, 0));
    }

    function test_a_token_cannot_reenter_from_its_transfer() public {
        bytes[] memory calls = _entryPoints();
        for (uint8 funding = APPROVED; funding <= PREFUNDED; ++funding) {
            for (uint256 i = 0; i < calls.length; ++i) {
                uint256 snapshot = vm.snapshotState();
                manager.grantRole(0, address(callbackToken), 0); // even as an administrator
                Sweep memory s = _sweep(_legs(_v3Leg(callbackToken, 1e18, funding)), address(weth));
                callbackToken.arm(address(v5), calls[i]);
                _send(s);
                assertTrue(callbackToken.called());
                assertFalse(callbackToken.succeeded());
                assertEq(callbackToken.response(), REFUSED);
                vm.revertToState(snapshot);
            }
        }
    }

    function test_the_manager_cannot_call_admin_functions_inside_a_sweep() public {
        manager.grantRole(0, address(callbackToken), 0);
        Sweep memory s = _sweep(_legs(_v3Leg(callbackToken, 1e18, APPROVED)), address(weth));
        bytes memory viaManager = abi.encodeCall(IAccessManager.execute, (address(v5), abi.encodeCall(v5.pause, ())));
        callbackToken.arm(address(manager), viaManager);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertTrue(callbackToken.called());
        assertFalse(callbackToken.succeeded());
        assertEq(callbackToken.response(), REFUSED);
        vm.revertToState(snapshot);

        callbackToken.arm(
            address(manager), abi.encodeCall(IAccessManager.updateAuthority, (address(v5), address(router)))
        );
        _send(s);
        assertFalse(callbackToken.succeeded());
        assertEq(callbackToken.response(), REFUSED);
        assertEq(IAccessManaged(address(v5)).authority(), address(manager));
    }

    function test_a_fee_recipient_cannot_reenter_from_its_payment() public {
        CallbackRecipient recipient = new CallbackRecipient();
        bytes[] memory calls = _entryPoints();
        recipient.arm(address(v5), calls[0]);
        Sweep memory s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.authorization.partnerRecipient = address(recipient);
        _sign(s);
        _send(s);
        assertEq(recipient.revertSelector(), bytes4(REFUSED));
        assertGt(address(recipient).balance, 0);
    }

    // ---------------------------------------------------------------- from every external call of a sweep

    /// @dev Calls all entry points of V5, with every role.
    function _attackerOfV5() private returns (ReentrancyAttacker attacker) {
        attacker = new ReentrancyAttacker(manager);
        manager.grantRole(0, address(attacker), 0);
        bytes[] memory calls = _entryPoints();
        bytes4[] memory selectors = new bytes4[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            selectors[i] = bytes4(calls[i]);
        }
        attacker.setTarget(address(v5), selectors);
    }

    function _attackerOfV4() private returns (ReentrancyAttacker attacker) {
        attacker = new ReentrancyAttacker(manager);
        manager.grantRole(0, address(attacker), 0);
        bytes4[] memory selectors = new bytes4[](3);
        (selectors[0], selectors[1], selectors[2]) = (v4.sweep.selector, v4.setFee.selector, v4.pause.selector);
        attacker.setTarget(address(v4), selectors);
    }

    /// @dev The token is transferred, queried for balances, approved, swapped and approved again.
    function test_a_token_cannot_reenter_from_transfers_balance_reads_or_approvals() public {
        for (uint256 i = 0; i < 2; ++i) {
            ReentrancyAttacker attacker = i == 0 ? _attackerOfV5() : _attackerOfV4();
            ReentrantToken token = new ReentrantToken(attacker);
            _addPools(token, 1e24);
            Sweep memory v5Sweep = _sweep(_legs(_v3Leg(token, 1e18, APPROVED)), address(weth));
            SweepV4 memory v4Sweep =
                _sweepV4(_legs(_v3LegTo(token, address(weth), 1e18, APPROVED, address(v4))), address(weth));
            v4Sweep.permitNonce = 12;
            _signV4(v4Sweep);
            attacker.register(address(token));
            token.arm(true);
            vm.expectCall(address(attacker), abi.encodeCall(ReentrancyAttacker.attackStatically, ()));
            if (i == 0) _send(v5Sweep);
            else _sendV4(v4Sweep);
            assertGe(attacker.attemptsOf(address(token)), 4);
            assertFalse(attacker.succeeded());
        }
    }

    function test_a_router_cannot_reenter() public {
        ReentrancyAttacker attacker = _attackerOfV5();
        HostileRouter hostile = new HostileRouter(attacker);
        attacker.register(address(hostile));
        _fund(address(weth), address(hostile), 1e18);
        v5.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(hostile));
        Sweep memory s = _usdcSweep(APPROVED);
        s.legs[0].router = address(hostile);
        _sign(s);
        _send(s);
        assertEq(attacker.attemptsOf(address(hostile)), 1);
        assertFalse(attacker.succeeded());
    }

    function test_recipients_of_the_native_coin_cannot_reenter() public {
        ReentrancyAttacker attacker = _attackerOfV5();
        user = address(new ReentrantWallet(attacker));
        Sweep memory s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.authorization.partnerRecipient = address(new ReentrantRecipient(attacker));
        attacker.register(user);
        attacker.register(s.authorization.partnerRecipient);
        _sign(s);
        ReentrantWallet(payable(user)).sign(_permitDigest(s));
        _send(s);
        assertEq(attacker.attemptsOf(user), 1);
        assertEq(attacker.attemptsOf(s.authorization.partnerRecipient), 1);
        assertFalse(attacker.succeeded());
    }

    /// @dev The signer is called statically; a successful re-entry would revert.
    function test_eip1271_signers_cannot_reenter() public {
        ReentrancyAttacker attacker = _attackerOfV5();
        ReentrantWallet feeSigner = new ReentrantWallet(attacker);
        v5.setFeeSigner(address(feeSigner), 0);
        user = address(new ReentrantWallet(attacker));
        Sweep memory s = _usdcSweep(APPROVED);
        feeSigner.sign(v5.hashAuthorization(s.authorization));
        ReentrantWallet(payable(user)).sign(_permitDigest(s));
        vm.expectCall(address(attacker), abi.encodeCall(ReentrancyAttacker.attackStatically, ()), 2);
        _send(s);
        assertTrue(v5.isNonceUsed(s.authorization.nonce));
    }
}
