// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManaged} from "@openzeppelin/contracts/access/manager/IAccessManaged.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IRouterAllowList} from "../src/interfaces/IRouterAllowList.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {RejectingRecipient} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Administration
/// @notice Access to the admin functions, the limits of the list of routers, and the effect of the pause.
contract Administration is SweepTest {
    bytes4 private constant SWAP = ISwapRouter02.exactInputSingle.selector;
    address private stranger = makeAddr("stranger");

    // ---------------------------------------------------------------- roles

    function test_a_stranger_cannot_call_admin_functions() public {
        bytes[] memory calls = new bytes[](10);
        calls[0] = abi.encodeCall(v5.allowRouter, (address(router), SWAP, address(router)));
        calls[1] = abi.encodeCall(v5.removeRouter, (address(router), SWAP));
        calls[2] = abi.encodeCall(v5.pause, ());
        calls[3] = abi.encodeCall(v5.unpause, ());
        calls[4] = abi.encodeCall(v5.setFeeSigner, (stranger, 0));
        calls[5] = abi.encodeCall(v5.revokeFeeSigner, (signer));
        calls[6] = abi.encodeCall(v5.rescue, (address(usdc), stranger, 1));
        calls[7] = abi.encodeCall(v5.cancelAuthorization, (7));
        calls[8] = abi.encodeCall(v5.listVenue, (3, _v3Venue()));
        calls[9] = abi.encodeCall(v5.removeVenue, (V3));
        for (uint256 i = 0; i < calls.length; ++i) {
            vm.prank(stranger);
            (bool succeeded, bytes memory reason) = address(v5).call(calls[i]);
            assertFalse(succeeded);
            assertEq(reason, abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, stranger));
        }
    }

    function test_a_role_grants_access_to_its_functions_only() public {
        uint64 guardian = 1;
        bytes4[] memory selectors = new bytes4[](2);
        (selectors[0], selectors[1]) = (v5.pause.selector, v5.removeRouter.selector);
        manager.setTargetFunctionRole(address(v5), selectors, guardian);
        manager.grantRole(guardian, stranger, 0);

        vm.startPrank(stranger);
        v5.pause();
        v5.removeRouter(address(router), SWAP);
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, stranger));
        v5.unpause();
        vm.stopPrank();
    }

    function test_only_the_manager_can_set_another_authority() public {
        address next = address(new RejectingRecipient());
        vm.expectRevert(abi.encodeWithSelector(IAccessManaged.AccessManagedUnauthorized.selector, address(this)));
        IAccessManaged(address(v5)).setAuthority(next);
        manager.updateAuthority(address(v5), next);
        assertEq(IAccessManaged(address(v5)).authority(), next);
    }

    // ---------------------------------------------------------------- pause

    function test_sweeps_of_every_kind_revert_while_paused() public {
        Sweep memory s = _usdcSweep();
        v5.pause();
        bytes memory expected = abi.encodeWithSelector(Pausable.EnforcedPause.selector);
        _expectRevert(s, expected);
        vm.startPrank(user);
        vm.expectRevert(expected);
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
        vm.expectRevert(expected);
        v5.sweepWithPermits(
            s.route,
            s.authorization,
            s.authorizationSignature,
            new ISweepBatch.TokenPermit[](0),
            s.permitNonce,
            s.permitDeadline,
            s.permitSignature
        );
        vm.stopPrank();
        v5.unpause();
        _send(s);
        assertTrue(v5.isNonceUsed(7));
    }

    function test_pausing_and_unpausing_emit_events() public {
        vm.expectEmit(address(v5));
        emit Pausable.Paused(address(this));
        v5.pause();
        vm.expectEmit(address(v5));
        emit Pausable.Unpaused(address(this));
        v5.unpause();
    }

    // ---------------------------------------------------------------- construction

    function test_the_constructor_requires_its_dependencies_to_have_code() public {
        string memory artifact = _artifact("ServiceBatchV5PartnerFees");
        bytes memory expected = abi.encodeWithSelector(IRouterAllowList.NotAContract.selector, stranger);
        vm.expectRevert(expected);
        deployCode(artifact, abi.encode(stranger, PERMIT2, address(weth), signer));
        vm.expectRevert(expected);
        deployCode(artifact, abi.encode(address(manager), stranger, address(weth), signer));
        vm.expectRevert(expected);
        deployCode(artifact, abi.encode(address(manager), PERMIT2, stranger, signer));
        vm.expectRevert(IV5.ZeroFeeSigner.selector);
        deployCode(artifact, abi.encode(address(manager), PERMIT2, address(weth), address(0)));
    }

    function test_the_fixed_addresses_and_the_cap_can_be_read() public view {
        assertEq(v5.PERMIT2(), PERMIT2);
        assertEq(v5.WRAPPED_NATIVE(), address(weth));
        assertEq(v5.MAX_TOTAL_FEE_BPS(), 300);
        assertEq(IAccessManaged(address(v5)).authority(), address(manager));
    }

    // ---------------------------------------------------------------- allow list

    function test_allowed_routers_returns_the_whole_list() public {
        address other = address(new RejectingRecipient());
        vm.expectEmit(address(v5));
        emit IRouterAllowList.RouterAllowed(other, SWAP, address(router));
        v5.allowRouter(other, SWAP, address(router));

        IRouterAllowList.AllowedRouter[] memory listed = v5.allowedRouters();
        assertEq(listed.length, 4);
        assertEq(listed[0].router, address(router));
        assertEq(listed[0].selector, SWAP);
        assertEq(listed[0].spender, address(router));
        assertEq(listed[3].router, other);
        assertEq(listed[3].selector, SWAP);
        assertEq(listed[3].spender, address(router));
    }

    function test_listing_again_changes_the_spender() public {
        address other = address(new RejectingRecipient());
        v5.allowRouter(address(router), SWAP, other);
        IRouterAllowList.AllowedRouter[] memory listed = v5.allowedRouters();
        assertEq(listed.length, 3);
        assertEq(listed[0].spender, other);
    }

    /// @dev The router itself has no allowance if another account is the spender.
    function test_the_spender_is_approved_and_not_the_router() public {
        address other = address(new RejectingRecipient());
        v5.allowRouter(address(router), SWAP, other);
        Sweep memory s = _usdcRouterSweep();
        vm.expectCall(address(usdc), abi.encodeCall(IERC20.approve, (other, 1_000e6)));
        _expectRevert(s, _legFailed(0, address(router), _text("STF")));
    }

    function test_removing_a_router_delists_it_and_emits_an_event() public {
        vm.expectEmit(address(v5));
        emit IRouterAllowList.RouterRemoved(address(router), SWAP);
        v5.removeRouter(address(router), SWAP);
        IRouterAllowList.AllowedRouter[] memory listed = v5.allowedRouters();
        assertEq(listed.length, 2);
        for (uint256 i = 0; i < listed.length; ++i) {
            assertTrue(listed[i].selector != SWAP);
        }
        vm.expectRevert(abi.encodeWithSelector(IRouterAllowList.RouterNotListed.selector, address(router), SWAP));
        v5.removeRouter(address(router), SWAP);
    }

    function test_permit2_this_contract_and_the_wrapped_native_token_cannot_be_routers_or_spenders() public {
        address[3] memory forbidden = [PERMIT2, address(v5), address(weth)];
        for (uint256 i = 0; i < forbidden.length; ++i) {
            bytes memory expected = abi.encodeWithSelector(IRouterAllowList.RouterForbidden.selector, forbidden[i]);
            vm.expectRevert(expected);
            v5.allowRouter(forbidden[i], SWAP, address(router));
            vm.expectRevert(expected);
            v5.allowRouter(address(router), SWAP, forbidden[i]);
        }
    }

    function test_routers_and_spenders_must_have_code() public {
        bytes memory expected = abi.encodeWithSelector(IRouterAllowList.NotAContract.selector, stranger);
        vm.expectRevert(expected);
        v5.allowRouter(stranger, SWAP, address(router));
        vm.expectRevert(expected);
        v5.allowRouter(address(router), SWAP, stranger);
    }

    function test_exact_input_swaps_can_be_listed() public {
        string[7] memory swaps = [
            "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
            "exactInput((bytes,address,uint256,uint256))",
            "swapExactTokensForTokens(uint256,uint256,address[],address)",
            "exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
            "exactInput((bytes,address,uint256,uint256,uint256))",
            "swapExactTokensForTokens(uint256,uint256,address[],address,uint256)",
            "swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256,uint256,address[],address,uint256)"
        ];
        for (uint256 i = 0; i < swaps.length; ++i) {
            v5.allowRouter(address(router), bytes4(keccak256(bytes(swaps[i]))), address(router));
        }
        assertEq(v5.allowedRouters().length, swaps.length);
    }

    function test_other_known_functions_cannot_be_listed() public {
        string[24] memory others = [
            "multicall(bytes[])",
            "multicall(uint256,bytes[])",
            "multicall(bytes32,bytes[])",
            "execute(bytes,bytes[],uint256)",
            "execute(bytes,bytes[])",
            "sweepToken(address,uint256)",
            "sweepToken(address,uint256,address)",
            "sweepTokenWithFee(address,uint256,address,uint256,address)",
            "unwrapWETH9(uint256,address)",
            "unwrapWETH9(uint256)",
            "unwrapWETH9WithFee(uint256,address,uint256,address)",
            "refundETH()",
            "pull(address,uint256)",
            "wrapETH(uint256)",
            "selfPermit(address,uint256,uint256,uint8,bytes32,bytes32)",
            "permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
            "approve(address,uint256)",
            "approveMax(address)",
            "transfer(address,uint256)",
            "transferFrom(address,address,uint256)",
            "mint((address,address,uint24,int24,int24,uint256,uint256,address))",
            "increaseLiquidity((address,address,uint256,uint256,uint256))",
            "exactOutputSingle((address,address,uint24,address,uint256,uint256,uint160))",
            "swapTokensForExactTokens(uint256,uint256,address[],address)"
        ];
        for (uint256 i = 0; i < others.length; ++i) {
            _expectNotListable(bytes4(keccak256(bytes(others[i]))));
        }
        _expectNotListable(bytes4(0));
    }

    function testFuzz_unknown_functions_cannot_be_listed(bytes4 selector) public {
        vm.assume(selector != 0x04e45aaf && selector != 0xb858183f && selector != 0x472b43f3);
        vm.assume(selector != 0x414bf389 && selector != 0xc04b8d59);
        vm.assume(selector != 0x38ed1739 && selector != 0x5c11d795);
        _expectNotListable(selector);
    }

    function _expectNotListable(bytes4 selector) private {
        vm.expectRevert(abi.encodeWithSelector(IRouterAllowList.NotAnExactInputSwap.selector, selector));
        v5.allowRouter(address(router), selector, address(router));
    }
}
