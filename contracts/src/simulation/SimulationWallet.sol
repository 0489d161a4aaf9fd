// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title SimulationWallet
/// @notice Tries a sweep as its user would send it. It is never deployed: an `eth_call` with a state override puts this
/// code at the user's address and calls it from there. Nothing outlives that call.
// slither-disable-next-line locked-ether - the account's own code is there again after the call
contract SimulationWallet {
    struct Approval {
        IERC20 token;
        /// @notice The allowance that the target has, by which touching the token changes nothing.
        uint256 current;
        /// @notice The allowance to give; reset to zero before if the token needs that.
        uint256 amount;
        bool resets;
    }

    struct Balance {
        /// @notice Zero for the native coin.
        address token;
        address holder;
    }

    struct Trial {
        Approval[] approvals;
        address target;
        bytes data;
        /// @notice The gas limits to call the target with, in rising order.
        uint256[] gasLimits;
        Balance[] balances;
    }

    struct Outcome {
        /// @notice The first gas limit with which the target's call went through; zero if none did.
        uint256 gasLimit;
        uint256 gasUsed;
        /// @notice The start of what the last attempt returned if none went through.
        bytes revertData;
        /// @notice By how much an approval of each token that changes nothing is cheaper after the approvals: the gas of
        /// what these have warmed (EIP-2929).
        uint256[] warmed;
        /// @notice The gas of each token's approvals, resets included.
        uint256[] approvalsUsed;
        uint256[] allowancesLeft;
        uint256[] balancesBefore;
        uint256[] balancesAfter;
    }

    /// @notice Only the account itself can make it call others.
    error NotTheAccount(address caller);
    /// @notice A call of the target would do nothing.
    error TargetWithoutCode(address target);
    /// @notice The gas that is left does not allow an attempt with this limit.
    error TooLittleGas(uint256 gasLimit);

    /// @notice More than twice what tokens behind a proxy need.
    uint256 private constant APPROVE_GAS = 150_000;
    /// @notice For an approval that changes nothing, and for reading a number.
    uint256 private constant TOUCH_GAS = 50_000;
    /// @dev Of revert data. Enough for the nested errors of a sweep; a token can return as much as it likes.
    uint256 private constant MAX_REVERT_DATA = 4096;
    /// @dev For what is done between the check of the gas and the call.
    uint256 private constant CHECK_GAS = 1000;

    modifier onlyAccount() {
        if (msg.sender != address(this)) revert NotTheAccount(msg.sender);
        _;
    }

    receive() external payable {}

    /// @notice Makes the approvals, whether or not they succeed, and then the target's call with one limit after the
    /// other until it goes through. An attempt that fails leaves nothing, not even warm slots.
    function run(Trial calldata trial) external onlyAccount returns (Outcome memory outcome) {
        outcome.balancesBefore = _balances(trial.balances);
        uint256[] memory cold = _touch(trial);
        outcome.approvalsUsed = new uint256[](trial.approvals.length);
        for (uint256 i = 0; i < trial.approvals.length; ++i) {
            Approval calldata approval = trial.approvals[i];
            if (approval.resets) outcome.approvalsUsed[i] = _approve(trial, approval.token, 0);
            outcome.approvalsUsed[i] += _approve(trial, approval.token, approval.amount);
        }
        outcome.warmed = _touch(trial);
        for (uint256 i = 0; i < cold.length; ++i) {
            uint256 warm = outcome.warmed[i];
            outcome.warmed[i] = cold[i] > warm ? cold[i] - warm : 0;
        }
        _climb(trial, outcome);
        outcome.allowancesLeft = _allowances(trial);
        outcome.balancesAfter = _balances(trial.balances);
    }

    /// @notice Makes a call, undoes it by reverting, and returns the number that it returned, zero if it failed, and the
    /// gas that it used, as the revert data.
    function callAndUndo(address to, bytes calldata data) external onlyAccount {
        (bool success, uint256 gasUsed) = _call(to, data, TOUCH_GAS);
        assembly ("memory-safe") {
            mstore(0, 0)
            if and(success, gt(returndatasize(), 0x1f)) { returndatacopy(0, 0, 0x20) }
            mstore(0x20, gasUsed)
            revert(0, 0x40)
        }
    }

    /// @notice Returns the native balance of an account. Reading it in a call that is undone does not warm the account.
    function balanceOf(address holder) external view returns (uint256) {
        return holder.balance;
    }

    function _climb(Trial calldata trial, Outcome memory outcome) private {
        bytes memory data = trial.data;
        address target = trial.target;
        // Reading its code also warms it, as a transaction does with its target.
        if (target.code.length == 0) revert TargetWithoutCode(target);
        bool success = false;
        for (uint256 i = 0; i < trial.gasLimits.length && !success; ++i) {
            uint256 gasLimit = trial.gasLimits[i];
            // Otherwise the call would silently get less (EIP-150).
            if ((gasleft() - CHECK_GAS) * 63 / 64 < gasLimit) revert TooLittleGas(gasLimit);
            (success, outcome.gasUsed) = _call(target, data, gasLimit);
            if (success) outcome.gasLimit = gasLimit;
        }
        if (!success) outcome.revertData = _startOfReturned();
    }

    /// @dev A failure shows in the attempts.
    function _approve(Trial calldata trial, IERC20 token, uint256 amount) private returns (uint256 gasUsed) {
        (, gasUsed) = _call(address(token), abi.encodeCall(IERC20.approve, (trial.target, amount)), APPROVE_GAS);
    }

    /// @dev Returns the gas of approvals that change nothing.
    function _touch(Trial calldata trial) private returns (uint256[] memory used) {
        used = new uint256[](trial.approvals.length);
        for (uint256 i = 0; i < used.length; ++i) {
            Approval calldata approval = trial.approvals[i];
            bytes memory data = abi.encodeCall(IERC20.approve, (trial.target, approval.current));
            (, used[i]) = _undone(address(approval.token), data);
        }
    }

    function _allowances(Trial calldata trial) private returns (uint256[] memory allowances) {
        allowances = new uint256[](trial.approvals.length);
        for (uint256 i = 0; i < allowances.length; ++i) {
            bytes memory data = abi.encodeCall(IERC20.allowance, (address(this), trial.target));
            (allowances[i],) = _undone(address(trial.approvals[i].token), data);
        }
    }

    function _balances(Balance[] calldata wanted) private returns (uint256[] memory balances) {
        balances = new uint256[](wanted.length);
        for (uint256 i = 0; i < balances.length; ++i) {
            // Of the native coin, what this account says.
            address token = wanted[i].token == address(0) ? address(this) : wanted[i].token;
            (balances[i],) = _undone(token, abi.encodeCall(IERC20.balanceOf, (wanted[i].holder)));
        }
    }

    /// @dev Undone, so that it does not warm anything.
    function _undone(address to, bytes memory data) private returns (uint256 result, uint256 gasUsed) {
        // It always reverts, with both.
        _call(address(this), abi.encodeCall(this.callAndUndo, (to, data)), gasleft());
        assembly ("memory-safe") {
            returndatacopy(0, 0, 0x40)
            result := mload(0)
            gasUsed := mload(0x20)
        }
    }

    /// @dev In assembly, because a Solidity call copies the return data, however long it is.
    function _call(address to, bytes memory data, uint256 gasLimit) private returns (bool success, uint256 gasUsed) {
        assembly ("memory-safe") {
            let gasBefore := gas()
            success := call(gasLimit, to, 0, add(data, 0x20), mload(data), 0, 0)
            gasUsed := sub(gasBefore, gas())
        }
    }

    function _startOfReturned() private pure returns (bytes memory data) {
        uint256 size;
        assembly ("memory-safe") {
            size := returndatasize()
        }
        if (size > MAX_REVERT_DATA) size = MAX_REVERT_DATA;
        data = new bytes(size);
        assembly ("memory-safe") {
            returndatacopy(add(data, 0x20), 0, size)
        }
    }
}
