// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {HostileTest} from "./support/HostileTest.sol";
import {HostilePermitToken} from "./support/HostilePermitTokens.sol";
import {DaiKindToken, Eip2612Token} from "./support/PermitTokens.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title HostilePermits
/// @notice Permits of tokens that another account used, that are for another owner, spender or leg, and tokens whose
/// permit is hostile. A permit is never more than an allowance of the sender for Permit2, and a failed one costs nothing
/// but itself.
contract HostilePermits is HostileTest {
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes private notApproved = abi.encodeWithSignature("Error(string)", "TRANSFER_FROM_FAILED");
    address private stranger;
    uint256 private strangerKey;
    Eip2612Token private token;
    DaiKindToken private daiLike;

    function setUp() public override {
        super.setUp();
        (stranger, strangerKey) = makeAddrAndKey("stranger");
        token = new Eip2612Token();
        daiLike = new DaiKindToken();
        _addPools(token, 2_000_000e18);
        _addPools(daiLike, 2_000_000e18);
    }

    /// @dev The leg of a user who has approved nothing.
    function _unapproved(IERC20 swept) private returns (ISweepBatch.Leg memory leg) {
        leg = _v3Leg(swept, 1_000e18);
        vm.prank(user);
        swept.approve(PERMIT2, 0);
    }

    function _permit(uint256 key, address owner, address spender, uint256 leg)
        private
        view
        returns (ISweepBatch.TokenPermit memory permit)
    {
        permit.leg = leg;
        (permit.valueOrNonce, permit.deadline) = (1_000e18, block.timestamp + 900);
        bytes32 structHash = keccak256(
            abi.encode(PERMIT_TYPEHASH, owner, spender, permit.valueOrNonce, token.nonces(owner), permit.deadline)
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", token.DOMAIN_SEPARATOR(), structHash));
        (permit.v, permit.r, permit.s) = vm.sign(key, digest);
    }

    function _daiPermit(address spender, uint256 leg) private view returns (ISweepBatch.TokenPermit memory permit) {
        (permit.leg, permit.isDaiKind, permit.deadline) = (leg, true, block.timestamp + 900);
        bytes32 structHash =
            keccak256(abi.encode(daiLike.PERMIT_TYPEHASH(), user, spender, permit.valueOrNonce, permit.deadline, true));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", daiLike.DOMAIN_SEPARATOR(), structHash));
        (permit.v, permit.r, permit.s) = vm.sign(userKey, digest);
    }

    function _one(ISweepBatch.TokenPermit memory permit) private pure returns (ISweepBatch.TokenPermit[] memory list) {
        list = new ISweepBatch.TokenPermit[](1);
        list[0] = permit;
    }

    function _both() private returns (Sweep memory s, ISweepBatch.TokenPermit[] memory permits) {
        s = _sweep(_route(_legs(_unapproved(token), _unapproved(daiLike))), address(weth));
        permits = new ISweepBatch.TokenPermit[](2);
        (permits[0], permits[1]) = (_daiPermit(PERMIT2, 1), _permit(userKey, user, PERMIT2, 0));
    }

    function _usePermit(ISweepBatch.TokenPermit memory p, address owner, address spender) private {
        token.permit(owner, spender, p.valueOrNonce, p.deadline, p.v, p.r, p.s);
    }

    // ---------------------------------------------------------------- used before, or twice

    function test_permits_that_another_account_used_before_have_done_their_work() public {
        (Sweep memory s, ISweepBatch.TokenPermit[] memory permits) = _both();
        vm.startPrank(stranger);
        _usePermit(permits[1], user, PERMIT2);
        ISweepBatch.TokenPermit memory p = permits[0];
        daiLike.permit(user, PERMIT2, p.valueOrNonce, p.deadline, true, p.v, p.r, p.s);
        vm.stopPrank();
        _sendWith(s, permits);
        assertEq(token.balanceOf(user), 0);
        assertEq(daiLike.balanceOf(user), 0);
        assertGt(weth.balanceOf(user), 0.98e18);
    }

    function test_permits_that_are_given_twice_work_once() public {
        (Sweep memory s, ISweepBatch.TokenPermit[] memory permits) = _both();
        ISweepBatch.TokenPermit[] memory twice = new ISweepBatch.TokenPermit[](4);
        for (uint256 i = 0; i < 4; ++i) {
            twice[i] = permits[i % 2];
        }
        _sendWith(s, twice);
        assertEq(token.balanceOf(user), 0);
        assertEq(token.nonces(user), 1);
    }

    function test_a_permit_that_was_used_up_does_not_pay_for_another_sweep() public {
        (Sweep memory s, ISweepBatch.TokenPermit[] memory permits) = _both();
        _sendWith(s, permits);
        _fund(address(token), user, 1_000e18);
        s = _sweep(_route(_legs(s.route.legs[0])), address(weth));
        (s.authorization.nonce, s.permitNonce) = (8, 12);
        _sign(s);
        permits[1].leg = 0;
        vm.expectRevert(_pullFailed(notApproved));
        _sendWith(s, _one(permits[1]));
        assertEq(token.balanceOf(user), 1_000e18);
    }

    // ---------------------------------------------------------------- of another owner, for another spender or leg

    function test_a_permit_of_another_owner_pays_for_nothing() public {
        _fund(address(token), stranger, 1_000e18);
        Sweep memory s = _sweep(_route(_legs(_unapproved(token))), address(weth));
        ISweepBatch.TokenPermit memory permit = _permit(strangerKey, stranger, PERMIT2, 0);
        vm.expectRevert(_pullFailed(notApproved));
        _sendWith(s, _one(permit));
        assertEq(token.balanceOf(stranger), 1_000e18);
        assertEq(token.allowance(stranger, PERMIT2), 0); // the owner is always the sender
        assertEq(token.nonces(stranger), 0);
    }

    /// @dev In a sweep that goes through because the user had approved the token anyway.
    function test_a_permit_for_another_spender_is_not_used() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(token, 1_000e18))), address(weth));
        address[3] memory spenders = [stranger, address(v5), address(router)];
        for (uint256 i = 0; i < spenders.length; ++i) {
            uint256 snapshot = vm.snapshotState();
            _sendWith(s, _one(_permit(userKey, user, spenders[i], 0)));
            assertEq(token.allowance(user, spenders[i]), 0);
            assertEq(token.nonces(user), 0);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    function test_a_dai_permit_for_another_spender_is_not_used() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(daiLike, 1_000e18))), address(weth));
        _sendWith(s, _one(_daiPermit(stranger, 0)));
        assertEq(daiLike.allowance(user, stranger), 0);
        assertEq(daiLike.nonces(user), 0);
    }

    function test_a_permit_that_names_another_leg_is_not_used() public {
        Eip2612Token other = new Eip2612Token();
        _addPools(other, 2_000_000e18);
        Sweep memory s = _sweep(_route(_legs(_unapproved(token), _v3Leg(other, 1_000e18))), address(weth));
        ISweepBatch.TokenPermit memory permit = _permit(userKey, user, PERMIT2, 1);
        vm.expectRevert(_pullFailed(notApproved));
        _sendWith(s, _one(permit));
        assertEq(token.balanceOf(user), 1_000e18);
    }

    function test_a_permit_that_names_no_leg_reverts_the_sweep() public {
        Sweep memory s = _sweep(_route(_legs(_unapproved(token))), address(weth));
        uint256[3] memory legs = [uint256(1), 30, type(uint256).max];
        for (uint256 i = 0; i < legs.length; ++i) {
            ISweepBatch.TokenPermit memory permit = _permit(userKey, user, PERMIT2, legs[i]);
            bytes memory reason = abi.encodeWithSelector(ISweepBatch.PermitLegUnknown.selector, legs[i]);
            vm.expectRevert(_pullFailed(reason));
            _sendWith(s, _one(permit));
        }
    }

    /// @dev The wrapped coin has no permit, and its fallback takes any call for a deposit.
    function test_a_permit_that_names_the_wrapped_coin_does_nothing() public {
        ISweepBatch.Leg[] memory legs = _legs(_joinedLeg(usdc, 1_000e6), _leg(weth, 0.5e18, JOINED));
        Sweep memory s = _sweep(_route(legs), address(dai));
        s.route.lastHop = _hop(V3, POOL_FEE);
        _sign(s);
        _sendWith(s, _one(_permit(userKey, user, PERMIT2, 1)));
        assertEq(weth.balanceOf(address(v5)), 0);
        assertEq(weth.balanceOf(user), 0);
    }

    function test_the_permit_of_a_leg_that_is_left_out_is_not_used() public {
        ISweepBatch.Leg memory leg = _skippable(_unapproved(token));
        leg.floor = 1e18; // twice what it brings
        Sweep memory s = _sweep(_route(_legs(leg, _v3Leg(usdc, 1_000e6))), address(weth));
        s.route.maxSkipped = 1;
        _sign(s);
        _sendWith(s, _one(_permit(userKey, user, PERMIT2, 0)));
        assertEq(token.allowance(user, PERMIT2), 0);
        assertEq(token.nonces(user), 0);
        assertEq(token.balanceOf(user), 1_000e18);
    }

    // ---------------------------------------------------------------- hostile permits

    function _hostile() private returns (HostilePermitToken hostile, Sweep memory s) {
        hostile = new HostilePermitToken();
        _addPools(hostile, 2_000_000e18);
        ISweepBatch.Leg[] memory legs =
            _legs(_skippable(_v3Leg(usdc, 1_000e6)), _v3Leg(hostile, 1_000e18), _skippable(_v2Leg(usdt, 1_000e6)));
        s = _sweep(_route(legs), address(weth));
        s.route.maxSkipped = 2;
        _sign(s);
    }

    function _hostilePermit() private pure returns (ISweepBatch.TokenPermit memory permit) {
        (permit.leg, permit.valueOrNonce) = (1, type(uint256).max);
    }

    /// @dev A permit for each of 30 legs costs at most 6 million gas, and the sweep continues.
    function test_a_permit_that_burns_all_its_gas_costs_200_000_and_stops_nothing() public {
        (HostilePermitToken hostile, Sweep memory s) = _hostile();
        uint256 fair = _fairOutput(s);
        hostile.burnGas();
        ISweepBatch.TokenPermit[] memory permits = new ISweepBatch.TokenPermit[](30);
        for (uint256 i = 0; i < 30; ++i) {
            permits[i] = _hostilePermit();
        }
        uint256 before = gasleft();
        _sendWith(s, permits);
        assertLt(before - gasleft(), 30 * 210_000 + 600_000);
        assertEq(weth.balanceOf(user), fair);
    }

    function test_a_permit_that_reverts_with_our_own_errors_has_no_leg_left_out() public {
        (HostilePermitToken hostile, Sweep memory s) = _hostile();
        uint256 fair = _fairOutput(s);
        ISweepBatch.TokenPermit memory permit = _hostilePermit();
        for (uint256 leg = 0; leg < 3; ++leg) {
            uint256 snapshot = vm.snapshotState();
            hostile.failWith(abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, leg, 0, 1));
            _sendWith(s, _one(permit));
            assertEq(weth.balanceOf(user), fair);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    function test_a_permit_that_reenters_is_refused() public {
        (HostilePermitToken hostile, Sweep memory s) = _hostile();
        uint256 fair = _fairOutput(s);
        hostile.callInPermit(address(v5), abi.encodeCall(v5.cancelAuthorization, (9)));
        manager.grantRole(0, address(hostile), 0);
        _sendWith(s, _one(_hostilePermit()));
        assertEq(
            hostile.answer(), abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector)
        );
        assertEq(weth.balanceOf(user), fair);
    }

    /// @dev Permits run when every pool has its price.
    function test_a_permit_finds_the_pools_of_the_sweep_locked() public {
        (HostilePermitToken hostile, Sweep memory s) = _hostile();
        uint256 fair = _fairOutput(s);
        _fund(address(usdc), address(hostile), 100_000e6);
        vm.prank(address(hostile));
        usdc.approve(address(router), type(uint256).max);
        ISwapRouter02.ExactInputSingleParams memory push = ISwapRouter02.ExactInputSingleParams(
            address(usdc), address(weth), POOL_FEE, address(hostile), 100_000e6, 0, 0
        );
        hostile.callInPermit(address(router), abi.encodeCall(ISwapRouter02.exactInputSingle, (push)));
        _sendWith(s, _one(_hostilePermit()));
        assertEq(hostile.answer(), _text("LOK"));
        assertEq(weth.balanceOf(user), fair);
    }
}
