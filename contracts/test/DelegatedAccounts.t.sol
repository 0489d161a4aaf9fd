// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {BatchingAccount, SigningAccount} from "./support/Accounts.sol";
import {ContractWallet, RejectingSigner} from "./support/Hostile.sol";
import {HostileTest} from "./support/HostileTest.sol";

/// @title DelegatedAccounts
/// @notice Accounts with code: contract wallets, and accounts that delegate to code (EIP-7702) with and without a check
/// of signatures (EIP-1271). And what a stranger can do with their approvals of this contract: nothing.
contract DelegatedAccounts is HostileTest {
    address private stranger = makeAddr("stranger");

    function _delegate(address implementation) private {
        vm.etch(user, abi.encodePacked(hex"ef0100", implementation));
    }

    /// @dev The calls of an account that batches: approve this contract, sweep, and withdraw the approval.
    function _batchOf(Sweep memory s) private view returns (BatchingAccount.Call[] memory calls) {
        IERC20 token = IERC20(s.route.legs[0].token);
        calls = new BatchingAccount.Call[](3);
        calls[0] = BatchingAccount.Call(address(token), abi.encodeCall(IERC20.approve, (address(v5), 1_000e6)));
        calls[1] = BatchingAccount.Call(
            address(v5), abi.encodeCall(v5.sweepAsCaller, (s.route, s.authorization, s.authorizationSignature))
        );
        calls[2] = BatchingAccount.Call(address(token), abi.encodeCall(IERC20.approve, (address(v5), 0)));
    }

    // ---------------------------------------------------------------- signatures

    /// @dev Permit2 asks the code of an account that has some, even if its key signed.
    function test_a_delegated_account_without_eip1271_cannot_sign_for_permit2() public {
        Sweep memory s = _usdcSweep();
        _delegate(address(new BatchingAccount()));
        _expectRevert(s, _pullFailed(new bytes(0))); // the code has no such function
        assertEq(usdc.balanceOf(user), 1_000e6);
    }

    function test_a_delegated_account_without_eip1271_sweeps_by_a_batch_of_calls() public {
        Sweep memory s = _usdcSweep();
        uint256 fair = _fairOutput(s);
        _delegate(address(new BatchingAccount()));
        vm.prank(user);
        BatchingAccount(payable(user)).execute(_batchOf(s));
        assertEq(weth.balanceOf(user), fair);
        assertEq(usdc.balanceOf(user), 0);
        assertEq(usdc.allowance(user, address(v5)), 0);
    }

    function test_a_delegated_account_with_eip1271_signs_with_its_key() public {
        Sweep memory s = _usdcSweep();
        uint256 fair = _fairOutput(s);
        _delegate(address(new SigningAccount()));
        _send(s);
        assertEq(weth.balanceOf(user), fair);
    }

    function test_a_delegated_account_with_eip1271_refuses_the_signature_of_another_key() public {
        Sweep memory s = _usdcSweep();
        _delegate(address(new SigningAccount()));
        (, uint256 otherKey) = makeAddrAndKey("other");
        s.permitSignature = _signature(otherKey, _permitDigest(s));
        _expectRevert(s, _pullFailed(abi.encodeWithSignature("InvalidContractSignature()")));
    }

    function test_a_delegated_fee_signer_signs_with_its_key() public {
        vm.etch(signer, abi.encodePacked(hex"ef0100", address(new RejectingSigner())));
        _send(_usdcSweep());
        assertTrue(v5.isNonceUsed(7));
    }

    function test_a_delegated_account_that_rejects_coin_reverts_a_sweep_into_it() public {
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6))), NATIVE);
        _delegate(address(new ContractWallet(false)));
        vm.expectPartialRevert(ISweepBatch.NativeTransferFailed.selector);
        _send(s);
    }

    // ---------------------------------------------------------------- contract wallets

    function test_a_contract_wallet_sweeps_into_the_native_coin_with_a_signature_of_any_length() public {
        user = address(new ContractWallet(true));
        Sweep memory s = _sweep(_route(_legs(_v3Leg(usdc, 1_000e6), _v2Leg(usdt, 1_000e6))), NATIVE);
        uint256[4] memory lengths = [0, 32, 4_097, uint256(70_000)];
        for (uint256 i = 0; i < lengths.length; ++i) {
            uint256 snapshot = vm.snapshotState();
            s.permitSignature = new bytes(lengths[i]);
            vm.expectCall(user, abi.encodeCall(ContractWallet.isValidSignature, (_permitDigest(s), s.permitSignature)));
            _send(s);
            assertGt(user.balance, 0.98e18);
            assertTrue(vm.revertToState(snapshot));
        }
    }

    function test_a_contract_wallet_sweeps_by_a_batch_of_calls() public {
        user = address(new BatchingAccount());
        Sweep memory s = _usdcSweep();
        vm.prank(user);
        BatchingAccount(payable(user)).execute(_batchOf(s));
        assertGt(weth.balanceOf(user), 0.49e18);
        assertEq(usdc.balanceOf(user), 0);
    }

    // ---------------------------------------------------------------- sweepAsCaller by others

    function _approveContract(IERC20 token) private {
        vm.prank(user);
        token.approve(address(v5), type(uint256).max);
        vm.prank(user);
        token.approve(address(v4), type(uint256).max);
    }

    function test_a_stranger_cannot_send_the_sweep_of_an_account_that_approved_this_contract() public {
        Sweep memory s = _usdcSweep();
        _approveContract(usdc);
        vm.expectRevert(abi.encodeWithSelector(IV5.WrongUser.selector, user, stranger));
        vm.prank(stranger);
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
        assertEq(usdc.balanceOf(user), 1_000e6);
    }

    /// @dev The service signs for the stranger what it would for anyone; the transfer is from the sender only.
    function test_a_stranger_cannot_sweep_what_another_account_approved() public {
        Sweep memory s = _usdcSweep();
        _approveContract(usdc);
        s.authorization.user = stranger;
        _sign(s);
        bytes memory reason = abi.encodeWithSignature("SafeERC20FailedOperation(address)", usdc);
        vm.expectRevert(_pullFailed(reason));
        vm.prank(stranger);
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);

        SweepV4 memory fallbackSweep = _sweepV4(s.route, address(weth));
        vm.expectRevert(_pullFailed(reason));
        vm.prank(stranger);
        v4.sweepAsCaller(fallbackSweep.route, fallbackSweep.order);
        assertEq(usdc.balanceOf(user), 1_000e6);
    }

    /// @dev Nor can Permit2 be made to move them: an approval of this contract is none of Permit2.
    function test_a_stranger_cannot_use_another_accounts_permit() public {
        Sweep memory s = _usdcSweep();
        (s.sender, s.authorization.user) = (stranger, stranger);
        _signRoute(s); // the permit is still the user's
        _expectRevert(s, _pullFailed(abi.encodeWithSignature("InvalidSigner()")));
        assertEq(usdc.balanceOf(user), 1_000e6);
    }

    function test_a_caller_is_debited_exactly_the_routes_amounts_and_never_by_permit2() public {
        _approveContract(usdc);
        Sweep memory s = _usdcSweep();
        _fund(address(usdc), user, 50e6);
        vm.prank(user);
        usdc.approve(PERMIT2, 0);
        vm.prank(user);
        v5.sweepAsCaller(s.route, s.authorization, s.authorizationSignature);
        assertEq(usdc.balanceOf(user), 50e6);
    }
}
