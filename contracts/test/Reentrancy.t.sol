// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {CallbackRecipient, CallbackToken} from "./support/Hostile.sol";
import {HostilePool} from "./support/HostilePools.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {
    HostileRouter,
    ReentrancyAttacker,
    ReentrantRecipient,
    ReentrantToken,
    ReentrantWallet
} from "./support/ReentrancyActors.sol";
import {CallsAround} from "./support/PoolScripts.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Reentrancy
/// @notice Nothing that is called during a sweep can call another sweep, an admin function or a callback, in either
/// contract.
contract Reentrancy is HostileTest {
    bytes private constant REFUSED =
        abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector);
    CallbackToken private callbackToken;

    function setUp() public override {
        super.setUp();
        callbackToken = new CallbackToken();
        _addPools(callbackToken, 1e24);
    }

    /// @dev Every function that changes state.
    function _entryPoints() private view returns (bytes[] memory calls) {
        Sweep memory empty;
        calls = new bytes[](14);
        calls[0] = abi.encodeCall(v5.sweep, (empty.route, empty.authorization, "", 0, 0, ""));
        ISweepBatch.TokenPermit[] memory none;
        calls[1] = abi.encodeCall(v5.sweepWithPermits, (empty.route, empty.authorization, "", none, 0, 0, ""));
        calls[2] = abi.encodeCall(v5.sweepAsCaller, (empty.route, empty.authorization, ""));
        calls[3] = abi.encodeCall(v5.listVenue, (77, _v3Venue()));
        calls[4] = abi.encodeCall(v5.removeVenue, (V3));
        calls[5] = abi.encodeCall(v5.allowRouter, (address(router), 0x11223344, address(router)));
        calls[6] = abi.encodeCall(v5.removeRouter, (address(router), 0x11223344));
        calls[7] = abi.encodeCall(v5.pause, ());
        calls[8] = abi.encodeCall(v5.unpause, ());
        calls[9] = abi.encodeCall(v5.setFeeSigner, (user, 0));
        calls[10] = abi.encodeCall(v5.revokeFeeSigner, (signer));
        calls[11] = abi.encodeCall(v5.cancelAuthorization, (9));
        calls[12] = abi.encodeCall(v5.rescue, (address(callbackToken), user, 1));
        calls[13] = abi.encodeCall(IAccessManaged.setAuthority, (address(router)));
    }

    /// @dev The selectors of these and of both kinds of callbacks, for actors that make the calls themselves.
    function _attackerOfV5() private returns (ReentrancyAttacker attacker) {
        attacker = new ReentrancyAttacker(manager);
        manager.grantRole(0, address(attacker), 0);
        bytes[] memory calls = _entryPoints();
        bytes4[] memory selectors = new bytes4[](calls.length + 2);
        for (uint256 i = 0; i < calls.length; ++i) {
            selectors[i] = bytes4(calls[i]);
        }
        (selectors[calls.length], selectors[calls.length + 1]) = (_v3Venue().callback, _v2Venue().callback);
        attacker.setTarget(address(v5), selectors);
    }

    function _attackerOfV4() private returns (ReentrancyAttacker attacker) {
        attacker = new ReentrancyAttacker(manager);
        manager.grantRole(0, address(attacker), 0);
        bytes4[] memory selectors = new bytes4[](7);
        (selectors[0], selectors[1], selectors[2]) = (v4.sweep.selector, v4.setFee.selector, v4.pause.selector);
        (selectors[3], selectors[4]) = (v4.sweepWithPermits.selector, v4.sweepAsCaller.selector);
        (selectors[5], selectors[6]) = (_v3Venue().callback, _v2Venue().callback);
        attacker.setTarget(address(v4), selectors);
    }

    // ---------------------------------------------------------------- tokens

    /// @dev As a leg of a pool and of a router.
    function test_a_token_cannot_reenter_from_its_transfer() public {
        bytes[] memory calls = _entryPoints();
        ISweepBatch.Route[2] memory routes = [
            _route(_legs(_v3Leg(callbackToken, 1e18))),
            _routerRoute(_leg(callbackToken, 1e18, 0), _v3Call(0, callbackToken, address(weth), 1e18, address(v5)))
        ];
        for (uint256 i = 0; i < calls.length * 2; ++i) {
            uint256 snapshot = vm.snapshotState();
            manager.grantRole(0, address(callbackToken), 0); // even as an administrator
            callbackToken.arm(address(v5), calls[i / 2]);
            _send(_sweep(routes[i % 2], address(weth)));
            assertTrue(callbackToken.called());
            assertFalse(callbackToken.succeeded());
            assertEq(callbackToken.response(), REFUSED);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    function test_the_manager_cannot_call_admin_functions_inside_a_sweep() public {
        manager.grantRole(0, address(callbackToken), 0);
        Sweep memory s = _sweep(_route(_legs(_v3Leg(callbackToken, 1e18))), address(weth));
        bytes memory viaManager = abi.encodeCall(IAccessManager.execute, (address(v5), abi.encodeCall(v5.pause, ())));
        callbackToken.arm(address(manager), viaManager);
        uint256 snapshot = vm.snapshotState();
        _send(s);
        assertTrue(callbackToken.called());
        assertFalse(callbackToken.succeeded());
        assertEq(callbackToken.response(), REFUSED);
        assertTrue(vm.revertToState(snapshot));

        callbackToken.arm(
            address(manager), abi.encodeCall(IAccessManager.updateAuthority, (address(v5), address(router)))
        );
        _send(s);
        assertFalse(callbackToken.succeeded());
        assertEq(callbackToken.response(), REFUSED);
        assertEq(IAccessManaged(address(v5)).authority(), address(manager));
    }

    /// @dev The token is transferred, queried for balances, approved, swapped and approved again.
    function test_a_token_cannot_reenter_from_transfers_balance_reads_or_approvals() public {
        for (uint256 i = 0; i < 2; ++i) {
            ReentrancyAttacker attacker = i == 0 ? _attackerOfV5() : _attackerOfV4();
            ReentrantToken token = new ReentrantToken(attacker);
            _addPools(token, 1e24);
            address batch = i == 0 ? address(v5) : address(v4);
            ISweepBatch.RouterCall memory call = _v3Call(0, token, address(weth), 1e18, batch);
            ISweepBatch.Route memory route = _routerRoute(_leg(token, 1e18, 0), call);
            Sweep memory v5Sweep = _sweep(route, address(weth));
            SweepV4 memory v4Sweep = _sweepV4(route, address(weth));
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

    // ---------------------------------------------------------------- pools

    /// @dev Before its callback, when it is the one pool that may call back, and after it.
    function test_a_pool_cannot_reenter_before_or_after_its_callback() public {
        for (uint256 i = 0; i < 2; ++i) {
            ReentrancyAttacker attacker = i == 0 ? _attackerOfV5() : _attackerOfV4();
            CallsAround script = new CallsAround();
            script.addBefore(address(attacker), abi.encodeCall(ReentrancyAttacker.attackWithAll, ()));
            script.addBehind(address(attacker), abi.encodeCall(ReentrancyAttacker.attackWithAll, ()));
            uint256 snapshot = vm.snapshotState();
            HostilePool pool = _hostilePool(dai, weth, address(script), 0.5e18);
            attacker.register(address(pool));
            ISweepBatch.Route memory route = _route(_legs(_hostileLeg(dai, 1_000e18), _v3Leg(usdc, 1_000e6)));
            if (i == 0) _send(_sweep(route, address(weth)));
            else _sendV4(_sweepV4(route, address(weth)));
            assertEq(attacker.attemptsOf(address(pool)), i == 0 ? 2 * 16 : 2 * 7);
            assertFalse(attacker.succeeded());
            assertTrue(vm.revertToState(snapshot));
        }
    }

    /// @dev With each function itself and real arguments, as an administrator.
    function test_a_pool_that_is_an_administrator_cannot_call_any_function() public {
        bytes[] memory calls = _entryPoints();
        CallsAround script = new CallsAround();
        for (uint256 i = 0; i < calls.length; ++i) {
            script.addBefore(address(v5), calls[i]);
        }
        HostilePool pool = _hostilePool(dai, weth, address(script), 0.5e18);
        manager.grantRole(0, address(pool), 0);
        _send(_sweep(_route(_legs(_hostileLeg(dai, 1_000e18))), address(weth)));
        for (uint256 i = 0; i < calls.length; ++i) {
            assertEq(pool.response(i), REFUSED);
        }
        assertEq(pool.responseCount(), calls.length + 1);
    }

    /// @dev The one sweep of a pool inside another user's: the other contract has a guard of its own, and transient
    /// storage of its own.
    function test_a_pool_that_sweeps_with_the_other_contract_disturbs_neither() public {
        CallsAround script = new CallsAround();
        HostilePool pool = _hostilePool(dai, weth, address(script), 0.5e18);
        ISweepBatch.Route memory inner = _route(_legs(_v3Leg(usdt, 1_000e6)));
        _fund(address(usdt), address(pool), 1_000e6);
        vm.prank(address(pool));
        (bool approved,) = address(usdt).call(abi.encodeCall(IERC20.approve, (address(v4), 1_000e6)));
        assertTrue(approved);
        SweepV4 memory s4 = _sweepV4(inner, address(weth));
        script.addBefore(address(v4), abi.encodeCall(v4.sweepAsCaller, (s4.route, s4.order)));
        Sweep memory s = _sweep(_route(_legs(_hostileLeg(dai, 1_000e18), _v3Leg(usdc, 1_000e6))), address(weth));
        _send(s);
        assertEq(pool.response(0), "");
        assertApproxEqAbs(weth.balanceOf(address(pool)), 0.494e18, 0.001e18);
        assertApproxEqAbs(weth.balanceOf(user), 0.99e18, 0.001e18);
        assertEq(usdt.balanceOf(user), 1_000e6);
    }

    // ---------------------------------------------------------------- routers, recipients and signers

    function test_a_router_cannot_reenter() public {
        ReentrancyAttacker attacker = _attackerOfV5();
        HostileRouter hostile = new HostileRouter(attacker);
        attacker.register(address(hostile));
        _fund(address(weth), address(hostile), 1e18);
        v5.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, address(hostile));
        Sweep memory s = _usdcRouterSweep();
        s.route.routerCalls[0].router = address(hostile);
        _sign(s);
        _send(s);
        assertEq(attacker.attemptsOf(address(hostile)), 1);
        assertFalse(attacker.succeeded());
    }

    function test_a_fee_recipient_cannot_reenter_from_its_payment() public {
        CallbackRecipient recipient = new CallbackRecipient();
        recipient.arm(address(v5), _entryPoints()[0]);
        Sweep memory s = _sweep(_route(_legs(_wethLeg(1e18))), NATIVE);
        s.authorization.partnerRecipient = address(recipient);
        _sign(s);
        _send(s);
        assertEq(recipient.revertSelector(), bytes4(REFUSED));
        assertGt(address(recipient).balance, 0);
    }

    function test_recipients_of_the_native_coin_cannot_reenter() public {
        ReentrancyAttacker attacker = _attackerOfV5();
        user = address(new ReentrantWallet(attacker));
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6))), NATIVE);
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

    /// @dev The signer is called statically; a successful re-entry would revert. The user is asked in the innermost
    /// callback, between pools.
    function test_eip1271_signers_cannot_reenter() public {
        ReentrancyAttacker attacker = _attackerOfV5();
        ReentrantWallet feeSigner = new ReentrantWallet(attacker);
        v5.setFeeSigner(address(feeSigner), 0);
        user = address(new ReentrantWallet(attacker));
        Sweep memory s = _usdcSweep();
        feeSigner.sign(v5.hashAuthorization(s.authorization));
        ReentrantWallet(payable(user)).sign(_permitDigest(s));
        vm.expectCall(address(attacker), abi.encodeCall(ReentrancyAttacker.attackStatically, ()), 2);
        _send(s);
        assertTrue(v5.isNonceUsed(s.authorization.nonce));
    }
}
