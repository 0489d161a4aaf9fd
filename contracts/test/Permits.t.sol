// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IServiceBatchV4 as IV4} from "../src/interfaces/IServiceBatchV4.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {DaiKindToken, Eip2612Token} from "./support/PermitTokens.sol";
import {SweepV4Test} from "./support/SweepV4Test.sol";

/// @title Permits
/// @notice Sweeps in one prompt: with permits that the tokens themselves check, and by callers that batch their calls.
contract Permits is SweepV4Test {
    using SafeERC20 for IERC20;

    uint256 private constant AMOUNT = 1_000e18;
    bytes32 private constant EIP2612_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    Eip2612Token private signed;
    DaiKindToken private daiKind;

    function setUp() public override {
        super.setUp();
        (signed, daiKind) = (new Eip2612Token(), new DaiKindToken());
        _addPools(signed, POOL_TOKENS * 1e18);
        _addPools(daiKind, POOL_TOKENS * 1e18);
        signed.mint(user, AMOUNT);
        daiKind.mint(user, AMOUNT);
    }

    /// @dev Two tokens that the user has not approved for any account, and one that is approved for Permit2.
    function _route3() private returns (ISweepBatch.Route memory) {
        return _route(
            _legs(
                ISweepBatch.Leg(address(signed), AMOUNT, 0.4e18, _hop(V3, POOL_FEE)),
                _v3Leg(usdc, 1_000e6),
                ISweepBatch.Leg(address(daiKind), AMOUNT, 0.4e18, _hop(V2, 0))
            )
        );
    }

    function _permits() private view returns (ISweepBatch.TokenPermit[] memory permits) {
        permits = new ISweepBatch.TokenPermit[](2);
        permits[0] = _daiPermit(2); // in any order
        permits[1] = _eip2612Permit(0, AMOUNT);
    }

    function _eip2612Permit(uint256 leg, uint256 value) private view returns (ISweepBatch.TokenPermit memory) {
        bytes32 structHash =
            keccak256(abi.encode(EIP2612_TYPEHASH, user, PERMIT2, value, signed.nonces(user), block.timestamp));
        return _tokenPermit(leg, false, value, keccak256(_typed(signed.DOMAIN_SEPARATOR(), structHash)));
    }

    function _daiPermit(uint256 leg) private view returns (ISweepBatch.TokenPermit memory) {
        uint256 nonce = daiKind.nonces(user);
        bytes32 structHash =
            keccak256(abi.encode(daiKind.PERMIT_TYPEHASH(), user, PERMIT2, nonce, block.timestamp, true));
        return _tokenPermit(leg, true, nonce, keccak256(_typed(daiKind.DOMAIN_SEPARATOR(), structHash)));
    }

    function _typed(bytes32 domain, bytes32 structHash) private pure returns (bytes memory) {
        return abi.encodePacked(hex"1901", domain, structHash);
    }

    function _tokenPermit(uint256 leg, bool isDaiKind, uint256 valueOrNonce, bytes32 digest)
        private
        view
        returns (ISweepBatch.TokenPermit memory)
    {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(userKey, digest);
        return ISweepBatch.TokenPermit(leg, isDaiKind, valueOrNonce, block.timestamp, v, r, s);
    }

    function _expectRevertWith(Sweep memory s, ISweepBatch.TokenPermit[] memory permits, bytes memory reason) private {
        vm.expectRevert(reason);
        _sendWith(s, permits);
    }

    function _assertSwept() private view {
        assertGt(weth.balanceOf(user), 1.47e18);
        assertEq(signed.balanceOf(user) + usdc.balanceOf(user) + daiKind.balanceOf(user), 0);
    }

    // ---------------------------------------------------------------- with permits

    function test_permits_of_both_kinds_replace_approvals() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        _expectRevert(s, _pullFailedText("TRANSFER_FROM_FAILED"));
        _sendWith(s, _permits());
        _assertSwept();
        assertEq(signed.allowance(user, PERMIT2), 0);
        assertEq(daiKind.allowance(user, PERMIT2), type(uint256).max);
    }

    function _pullFailedText(string memory message) private pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.PullFailed.selector, _text(message));
    }

    function test_permits_work_for_joined_and_router_legs() public {
        ISweepBatch.Route memory route = _joinedRoute(
            _legs(
                ISweepBatch.Leg(address(signed), AMOUNT, 1, 0),
                ISweepBatch.Leg(address(daiKind), AMOUNT, 1, _hop(V2, 0) | JOINED | 1 << 128)
            ),
            _hop(V3, POOL_FEE)
        );
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3PathCall(0, signed, usdt, AMOUNT);
        ISweepBatch.TokenPermit[] memory permits = _permits();
        permits[0].leg = 1;
        _sendWith(_sweep(route, address(usdt)), permits);
        assertGt(usdt.balanceOf(user), 1_950e6);
    }

    function test_no_permits_are_needed_if_everything_is_approved() public {
        _sendWith(_usdcSweep(), new ISweepBatch.TokenPermit[](0));
        assertGt(weth.balanceOf(user), 0.49e18);
    }

    /// @dev Anyone can send a permit that is in the mempool; it has done its work then.
    function test_permits_that_were_already_used_are_ignored() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        ISweepBatch.TokenPermit[] memory p = _permits();
        signed.permit(user, PERMIT2, p[1].valueOrNonce, p[1].deadline, p[1].v, p[1].r, p[1].s);
        daiKind.permit(user, PERMIT2, p[0].valueOrNonce, p[0].deadline, true, p[0].v, p[0].r, p[0].s);
        _sendWith(s, p);
        _assertSwept();
    }

    function test_a_permit_that_fails_leaves_the_token_without_an_allowance() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        ISweepBatch.TokenPermit[] memory permits = _permits();
        permits[0].deadline += 1;
        _expectRevertWith(s, permits, _pullFailedText("TRANSFER_FROM_FAILED"));
        permits = _permits();
        permits[1].isDaiKind = true;
        _expectRevertWith(s, permits, _pullFailedText("TRANSFER_FROM_FAILED"));
        permits = _permits();
        permits[1] = _eip2612Permit(0, AMOUNT - 1);
        _expectRevertWith(s, permits, _pullFailedText("TRANSFER_FROM_FAILED"));
    }

    function test_a_permit_of_a_leg_that_does_not_exist_is_refused() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        ISweepBatch.TokenPermit[] memory permits = _permits();
        uint256[3] memory unknown = [uint256(3), 30, type(uint256).max];
        for (uint256 i = 0; i < 3; ++i) {
            permits[1].leg = unknown[i];
            bytes memory reason = abi.encodeWithSelector(ISweepBatch.PermitLegUnknown.selector, unknown[i]);
            _expectRevertWith(s, permits, abi.encodeWithSelector(ISweepBatch.PullFailed.selector, reason));
        }
    }

    function test_permits_of_skipped_and_dropped_legs_are_not_used() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[0].hop, route.legs[0].floor) = (route.legs[0].hop | SKIPPABLE, 1e18);
        (route.legs[2].hop, route.maxSkipped) = (DROPPED, 2);
        _sendWith(_sweep(route, address(weth)), _permits());
        assertEq(signed.nonces(user) + daiKind.nonces(user), 0);
        assertEq(signed.allowance(user, PERMIT2) + daiKind.allowance(user, PERMIT2), 0);
        assertEq(usdc.balanceOf(user), 0);
    }

    /// @dev The owner and the spender are not arguments.
    function test_the_permits_owner_is_the_sender_and_the_spender_permit2() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        ISweepBatch.TokenPermit memory p = _permits()[1];
        vm.expectCall(
            address(signed), abi.encodeCall(signed.permit, (user, PERMIT2, AMOUNT, p.deadline, p.v, p.r, p.s))
        );
        _sendWith(s, _permits());
    }

    function test_everything_is_checked_as_without_permits() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        s.route.legs[0].floor += 1;
        bytes32 hash = keccak256(abi.encode(s.route));
        _expectRevertWith(
            s, _permits(), abi.encodeWithSelector(IV5.LegsHashMismatch.selector, s.authorization.legsHash, hash)
        );
        _signRoute(s);
        _expectRevertWith(s, _permits(), _pullFailed(INVALID_SIGNER));
        s.sender = makeAddr("stranger");
        _expectRevertWith(s, _permits(), abi.encodeWithSelector(IV5.WrongUser.selector, user, s.sender));
        s.sender = user;
        s.permitSignature = "";
        _expectRevertWith(s, _permits(), _pullFailed(bytes4(keccak256("InvalidSignatureLength()"))));
    }

    function test_permits_work_with_the_fallback_contract() public {
        SweepV4 memory s = _sweepV4(_route3(), address(weth));
        ISweepBatch.TokenPermit[] memory permits = _permits();
        vm.prank(user);
        v4.sweepWithPermits(s.route, s.order, permits, s.permitNonce, s.permitDeadline, s.permitSignature);
        _assertSwept();
        assertTrue(v4.isSweepRefUsed(user, REF));
    }

    // ---------------------------------------------------------------- by the caller

    function _sendAsCaller(Sweep memory s) private {
        vm.prank(s.sender);
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
    }

    /// @dev In the same batch, as an account does that batches its calls.
    function _approveLegs(ISweepBatch.Route memory route) private {
        vm.startPrank(user);
        for (uint256 i = 0; i < route.legs.length; ++i) {
            IERC20(route.legs[i].token).forceApprove(address(v5), route.legs[i].amount);
        }
        vm.stopPrank();
    }

    function test_a_caller_needs_approvals_but_no_signature() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        _approveLegs(s.route);
        vm.expectCall(PERMIT2, "", 0);
        _sendAsCaller(s);
        _assertSwept();
        assertEq(signed.allowance(user, address(v5)) + daiKind.allowance(user, address(v5)), 0);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_every_kind_of_leg_is_swept_as_caller() public {
        ISweepBatch.Route memory route = _joinedRoute(
            _legs(_leg(usdt, 1_000e6, 0), _joinedLeg(usdc, 1_000e6), _leg(weth, 1e18, JOINED)), _hop(V3, POOL_FEE)
        );
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3PathCall(0, usdt, dai, 1_000e6);
        _approveLegs(route);
        _sendAsCaller(_sweep(route, address(dai)));
        assertGt(dai.balanceOf(user), 3_900e18);
        assertEq(weth.balanceOf(address(v5)) + dai.balanceOf(address(v5)) + usdt.balanceOf(address(v5)), 0);
    }

    function test_a_token_that_the_caller_did_not_approve_fails() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        _approveLegs(s.route);
        vm.prank(user);
        daiKind.approve(address(v5), AMOUNT - 1);
        bytes memory reason = abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(daiKind));
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.PullFailed.selector, reason));
        _sendAsCaller(s);
    }

    function test_skipped_and_dropped_legs_are_not_taken_from_the_caller() public {
        ISweepBatch.Route memory route = _route3();
        (route.legs[0].hop, route.legs[0].floor) = (route.legs[0].hop | SKIPPABLE, 1e18);
        (route.legs[2].hop, route.maxSkipped) = (DROPPED, 2);
        _approveLegs(route);
        _sendAsCaller(_sweep(route, address(weth)));
        assertEq(signed.balanceOf(user), AMOUNT);
        assertEq(daiKind.balanceOf(user), AMOUNT);
        assertEq(usdc.balanceOf(user), 0);
    }

    function test_only_the_authorized_user_can_sweep_as_caller() public {
        Sweep memory s = _sweep(_route3(), address(weth));
        _approveLegs(s.route);
        s.sender = makeAddr("stranger");
        vm.expectRevert(abi.encodeWithSelector(IV5.WrongUser.selector, user, s.sender));
        _sendAsCaller(s);
        vm.prank(s.sender); // on V4, a stranger has approved nothing
        bytes memory reason = abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(signed));
        vm.expectRevert(abi.encodeWithSelector(ISweepBatch.PullFailed.selector, reason));
        v4.sweepAsCaller(s.route, IV4.SweepOrderV4(address(weth), 75, REF));
    }

    /// @dev So the same nonce can't be used in two ways.
    function test_a_nonce_can_be_used_once_whatever_the_entry_point() public {
        Sweep memory s = _usdcSweep();
        _approveLegs(s.route);
        _sendAsCaller(s);
        bytes memory used = abi.encodeWithSelector(IV5.NonceAlreadyUsed.selector, 7);
        _expectRevert(s, used);
        _expectRevertWith(s, new ISweepBatch.TokenPermit[](0), used);
        vm.expectRevert(used);
        _sendAsCaller(s);
    }
}
