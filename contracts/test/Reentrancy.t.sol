// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {CallingRecipient, CallingToken} from "./support/Hostile.sol";
import {Burglar, HostileRouter, IntrudingRecipient, IntrudingToken, IntrudingWallet} from "./support/Intruders.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Reentrancy
/// @notice Whatever is called in the middle of a sweep gets neither another sweep nor an admin function, of either contract.
contract Reentrancy is SweepV4Test {
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

    // ---------------------------------------------------------------- from every place that a sweep calls

    /// @dev Knocks at all doors of V5, as somebody with every role.
    function _burglarOfV5() private returns (Burglar burglar) {
        burglar = new Burglar(manager);
        manager.grantRole(0, address(burglar), 0);
        bytes[] memory calls = _entryPoints();
        bytes4[] memory doors = new bytes4[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            doors[i] = bytes4(calls[i]);
        }
        burglar.aim(address(v5), doors);
    }

    function _burglarOfV4() private returns (Burglar burglar) {
        burglar = new Burglar(manager);
        manager.grantRole(0, address(burglar), 0);
        bytes4[] memory doors = new bytes4[](3);
        (doors[0], doors[1], doors[2]) = (v4.sweep.selector, v4.setFee.selector, v4.pause.selector);
        burglar.aim(address(v4), doors);
    }

    /// @dev Pulled, asked for balances, approved, swapped and approved again.
    function test_a_token_gets_in_neither_when_it_moves_nor_when_it_is_asked_or_approved() public {
        for (uint256 i = 0; i < 2; ++i) {
            Burglar burglar = i == 0 ? _burglarOfV5() : _burglarOfV4();
            IntrudingToken token = new IntrudingToken(burglar);
            _addPools(token, 1e24);
            Sweep memory five = _sweep(_legs(_v3Leg(token, 1e18, APPROVED)), address(weth));
            SweepV4 memory four =
                _sweepV4(_legs(_v3LegTo(token, address(weth), 1e18, APPROVED, address(v4))), address(weth));
            four.permitNonce = 12;
            _signV4(four);
            burglar.expect(address(token));
            token.arm(true);
            vm.expectCall(address(burglar), abi.encodeCall(Burglar.peek, ()));
            if (i == 0) _send(five);
            else _sendV4(four);
            assertGe(burglar.knocksOf(address(token)), 4);
            assertFalse(burglar.entered());
        }
    }

    function test_a_router_gets_in_by_no_door() public {
        Burglar burglar = _burglarOfV5();
        HostileRouter hostile = new HostileRouter(burglar);
        burglar.expect(address(hostile));
        _fund(address(weth), address(hostile), 1e18);
        v5.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(hostile));
        Sweep memory s = _usdcSweep(APPROVED);
        s.legs[0].router = address(hostile);
        _sign(s);
        _send(s);
        assertEq(burglar.knocksOf(address(hostile)), 1);
        assertFalse(burglar.entered());
    }

    function test_who_is_paid_in_coin_gets_in_by_no_door() public {
        Burglar burglar = _burglarOfV5();
        user = address(new IntrudingWallet(burglar));
        Sweep memory s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.authorization.partnerRecipient = address(new IntrudingRecipient(burglar));
        burglar.expect(user);
        burglar.expect(s.authorization.partnerRecipient);
        _sign(s);
        IntrudingWallet(payable(user)).sign(_permitDigest(s));
        _send(s);
        assertEq(burglar.knocksOf(user), 1);
        assertEq(burglar.knocksOf(s.authorization.partnerRecipient), 1);
        assertFalse(burglar.entered());
    }

    /// @dev Who is asked for a signature may change nothing, and finds each door shut all the same; otherwise it would revert.
    function test_who_is_asked_for_a_signature_gets_in_by_no_door() public {
        Burglar burglar = _burglarOfV5();
        IntrudingWallet feeSigner = new IntrudingWallet(burglar);
        v5.setFeeSigner(address(feeSigner), 0);
        user = address(new IntrudingWallet(burglar));
        Sweep memory s = _usdcSweep(APPROVED);
        feeSigner.sign(v5.hashAuthorization(s.authorization));
        IntrudingWallet(payable(user)).sign(_permitDigest(s));
        vm.expectCall(address(burglar), abi.encodeCall(Burglar.peek, ()), 2);
        _send(s);
        assertTrue(v5.isNonceUsed(s.authorization.nonce));
    }
}
