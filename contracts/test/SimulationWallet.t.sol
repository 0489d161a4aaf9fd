// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {World} from "./support/World.sol";

interface ISimulationWallet {
    struct Approval {
        IERC20 token;
        uint256 current;
        uint256 amount;
        bool resets;
    }

    struct Balance {
        address token;
        address holder;
    }

    struct Trial {
        Approval[] approvals;
        address target;
        bytes data;
        uint256[] gasLimits;
        Balance[] balances;
    }

    struct Outcome {
        uint256 gasLimit;
        uint256 gasUsed;
        bytes revertData;
        uint256[] warmed;
        uint256[] approvalsUsed;
        uint256[] allowancesLeft;
        uint256[] balancesBefore;
        uint256[] balancesAfter;
    }

    error NotTheAccount(address caller);
    error TargetWithoutCode(address target);
    error TooLittleGas(uint256 gasLimit);

    function run(Trial calldata trial) external returns (Outcome memory outcome);
    function callAndUndo(address to, bytes calldata data) external;
}

/// @dev A cheat code that this release of forge-std does not declare.
interface ICool {
    function cool(address account) external;
}

/// @dev What the wallet calls in the place of a sweep.
contract Target {
    uint256 public calls;

    receive() external payable {}

    function pull(IERC20 token, uint256 amount) external {
        calls += 1;
        require(token.transferFrom(msg.sender, address(this), amount));
    }

    function pay(uint256 amount) external {
        (bool paid,) = msg.sender.call{value: amount}("");
        require(paid);
    }

    function fail(uint256 size) external pure {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, 0x0102)
            revert(free, size)
        }
    }
}

/// @title SimulationWalletTest
/// @notice The wallet, placed at a user's address as an `eth_call` places it.
contract SimulationWalletTest is World {
    uint256 private constant AMOUNT = 500;
    /// @dev Of a slot that is used for the first time (EIP-2929).
    uint256 private constant COLD_SLOT = 2100;

    ISimulationWallet private user = ISimulationWallet(makeAddr("user"));
    Target private target = new Target();

    function setUp() public override {
        super.setUp();
        vm.etch(address(user), vm.getDeployedCode(_artifact("SimulationWallet")));
    }

    function _pulling(IERC20 token) private returns (ISimulationWallet.Trial memory trial) {
        _fund(address(token), address(user), AMOUNT);
        trial = _calling(abi.encodeCall(Target.pull, (token, AMOUNT)));
        trial.approvals = new ISimulationWallet.Approval[](1);
        trial.approvals[0] = ISimulationWallet.Approval(token, 0, AMOUNT, false);
        trial.balances = new ISimulationWallet.Balance[](2);
        trial.balances[0] = ISimulationWallet.Balance(address(token), address(user));
        trial.balances[1] = ISimulationWallet.Balance(address(token), address(target));
    }

    function _calling(bytes memory data) private view returns (ISimulationWallet.Trial memory trial) {
        trial.target = address(target);
        trial.data = data;
        trial.gasLimits = new uint256[](1);
        trial.gasLimits[0] = 1_000_000;
    }

    function _run(ISimulationWallet.Trial memory trial) private returns (ISimulationWallet.Outcome memory) {
        vm.prank(address(user));
        return user.run(trial);
    }

    function test_it_approves_calls_once_and_reports_what_moved() public {
        ISimulationWallet.Outcome memory outcome = _run(_pulling(usdc));
        assertEq(target.calls(), 1);
        assertEq(outcome.gasLimit, 1_000_000);
        assertGt(outcome.gasUsed, 40_000);
        assertEq(outcome.revertData, "");
        assertGt(outcome.approvalsUsed[0], 22_100); // a slot that was zero, and more
        assertLt(outcome.approvalsUsed[0], 30_000);
        assertEq(outcome.allowancesLeft[0], 0);
        assertEq(outcome.balancesBefore[0], AMOUNT);
        assertEq(outcome.balancesBefore[1], 0);
        assertEq(outcome.balancesAfter[0], 0);
        assertEq(outcome.balancesAfter[1], AMOUNT);
    }

    function test_an_allowance_is_reset_where_the_token_needs_that() public {
        ISimulationWallet.Trial memory trial = _calling(abi.encodeCall(Target.fail, (0)));
        _fund(address(usdt), address(user), AMOUNT);
        vm.prank(address(user));
        (bool approved,) = address(usdt).call(abi.encodeCall(IERC20.approve, (address(target), 7)));
        assertTrue(approved);
        trial.approvals = new ISimulationWallet.Approval[](1);
        trial.approvals[0] = ISimulationWallet.Approval(usdt, 7, AMOUNT, false);
        assertEq(_run(trial).allowancesLeft[0], 7);
        trial.approvals[0].resets = true;
        assertEq(_run(trial).allowancesLeft[0], AMOUNT);
    }

    function test_it_finds_the_least_of_the_limits() public {
        ISimulationWallet.Trial memory trial = _pulling(dai);
        trial.gasLimits = new uint256[](4);
        (trial.gasLimits[0], trial.gasLimits[1]) = (5000, 20_000);
        (trial.gasLimits[2], trial.gasLimits[3]) = (300_000, 400_000);
        assertEq(_run(trial).gasLimit, 300_000);
        assertEq(target.calls(), 1);
    }

    function test_it_measures_what_the_approvals_warmed() public {
        ISimulationWallet.Trial memory trial = _pulling(dai);
        ICool(address(vm)).cool(address(dai));
        // The allowance. The account stays warm, because a test is one transaction.
        assertEq(_run(trial).warmed[0], COLD_SLOT);
        assertEq(_run(trial).warmed[0], 0);
    }

    function test_native_coin_can_be_received_and_is_measured() public {
        vm.deal(address(target), 1 ether);
        ISimulationWallet.Trial memory trial = _calling(abi.encodeCall(Target.pay, (0.25 ether)));
        trial.balances = new ISimulationWallet.Balance[](1);
        trial.balances[0] = ISimulationWallet.Balance(address(0), address(user));
        ISimulationWallet.Outcome memory outcome = _run(trial);
        assertEq(outcome.balancesAfter[0] - outcome.balancesBefore[0], 0.25 ether);
    }

    function test_of_a_long_reason_only_the_start_is_returned() public {
        ISimulationWallet.Outcome memory outcome = _run(_calling(abi.encodeCall(Target.fail, (40_000))));
        assertEq(outcome.gasLimit, 0);
        assertEq(outcome.revertData.length, 4096);
        assertEq(bytes32(outcome.revertData), bytes32(uint256(0x0102)));
    }

    function test_a_short_reason_is_returned_whole() public {
        assertEq(_run(_calling(abi.encodeCall(Target.fail, (32)))).revertData, abi.encode(0x0102));
    }

    function test_a_balance_that_cannot_be_read_is_zero() public {
        ISimulationWallet.Trial memory trial = _calling(abi.encodeCall(Target.pay, (0)));
        trial.balances = new ISimulationWallet.Balance[](1);
        trial.balances[0] = ISimulationWallet.Balance(address(target), address(user));
        assertEq(_run(trial).balancesAfter[0], 0);
    }

    function test_a_target_without_code_is_refused() public {
        ISimulationWallet.Trial memory trial = _calling("");
        trial.target = makeAddr("nothing");
        vm.expectRevert(abi.encodeWithSelector(ISimulationWallet.TargetWithoutCode.selector, trial.target));
        _run(trial);
    }

    function test_an_attempt_never_gets_less_gas_than_its_limit() public {
        ISimulationWallet.Trial memory trial = _calling(abi.encodeCall(Target.pay, (0)));
        vm.prank(address(user));
        vm.expectRevert(abi.encodeWithSelector(ISimulationWallet.TooLittleGas.selector, 1_000_000));
        user.run{gas: 1_010_000}(trial);
    }

    function test_only_the_account_itself_can_make_it_call() public {
        ISimulationWallet.Trial memory trial = _pulling(usdc);
        vm.expectRevert(abi.encodeWithSelector(ISimulationWallet.NotTheAccount.selector, address(this)));
        user.run(trial);
        vm.expectRevert(abi.encodeWithSelector(ISimulationWallet.NotTheAccount.selector, address(this)));
        user.callAndUndo(address(target), trial.data);
    }
}
