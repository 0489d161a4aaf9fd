// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {OpenMintToken} from "./Hostile.sol";

/// @title Reentrancy actors
/// @notice Contracts that are called in the middle of a sweep and try to re-enter, from every place where a sweep makes
/// a call: a token that is transferred, approved or queried for a balance, a router, a recipient, and wallets that are
/// queried for a signature or paid.

/// @notice Makes the attempts for all of them: calls the functions of one contract, one after the other. Even if it is
/// an administrator, every call during a sweep must revert with the re-entrancy guard's error, or as a callback that
/// is not expected.
contract ReentrancyAttacker {
    error Reentered(bytes4 selector);

    bytes4 private constant GUARDED = bytes4(keccak256("ReentrancyGuardReentrantCall()"));
    bytes4 private constant UNEXPECTED = bytes4(keccak256("UnexpectedCallback(address,bytes4)"));
    uint256 private constant ARGUMENTS = 28 * 32; // zeros, enough for the longest of the calls
    uint256 private constant MANAGER_TURN = 5; // every fifth attempt is made through the manager

    IAccessManager private immutable MANAGER;
    address private target;
    bytes4[] private selectors;
    // Starting at one: a fee recipient has too little gas to set a zero slot.
    uint256 private attemptCount = 1;
    uint256 private successCount = 1;
    mapping(address actor => uint256) private attemptCountOf;

    constructor(IAccessManager manager) {
        MANAGER = manager;
    }

    function setTarget(address target_, bytes4[] calldata selectors_) external {
        (target, selectors) = (target_, selectors_);
    }

    /// @dev Call this before the actor's first attempt.
    function register(address actor) external {
        attemptCountOf[actor] = 1;
    }

    function attack() external {
        uint256 attempt = attemptCount++;
        ++attemptCountOf[msg.sender];
        bytes memory call = _call(attempt);
        bool success;
        bytes memory response;
        if (attempt % MANAGER_TURN != 0) {
            (success, response) = target.call(call);
        } else if (attempt % 2 == 0) {
            (success, response) = address(MANAGER).call(abi.encodeCall(MANAGER.execute, (target, call)));
        } else {
            (success, response) = address(MANAGER).call(abi.encodeCall(MANAGER.updateAuthority, (target, target)));
        }
        if (success || !_isRefusal(response)) ++successCount;
    }

    function attempts() external view returns (uint256) {
        return attemptCount - 1;
    }

    function attemptsOf(address actor) external view returns (uint256) {
        return attemptCountOf[actor] - 1;
    }

    function succeeded() external view returns (bool) {
        return successCount != 1;
    }

    /// @dev All of them in a row, for a frame that has the gas for it.
    function attackWithAll() external {
        for (uint256 i = 0; i < selectors.length; ++i) {
            this.attack();
        }
        attemptCountOf[msg.sender] += selectors.length;
    }

    /// @dev For static calls, which cannot store what they find and therefore report a success by reverting.
    function attackStatically() external view {
        bytes memory call = _call(gasleft());
        (bool success, bytes memory response) = target.staticcall(call);
        if (success || !_isRefusal(response)) revert Reentered(bytes4(call));
    }

    function _isRefusal(bytes memory response) private pure returns (bool) {
        return bytes4(response) == GUARDED || bytes4(response) == UNEXPECTED;
    }

    function _call(uint256 attempt) private view returns (bytes memory) {
        return abi.encodePacked(selectors[attempt % selectors.length], new bytes(ARGUMENTS));
    }
}

/// @notice A token like an ERC-777 with hooks that re-enter on transfers, balance reads and approvals.
contract ReentrantToken is OpenMintToken {
    ReentrancyAttacker private immutable ATTACKER;
    bool private armed;

    constructor(ReentrancyAttacker attacker) ERC20("Reentrant", "REENTER") {
        ATTACKER = attacker;
    }

    function arm(bool armed_) external {
        armed = armed_;
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (armed) ATTACKER.attack();
        return super.approve(spender, amount);
    }

    function balanceOf(address account) public view override returns (uint256) {
        if (armed) ATTACKER.attackStatically();
        return super.balanceOf(account);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (armed) ATTACKER.attack();
    }
}

/// @notice Accepts the native coin and re-enters.
contract ReentrantRecipient {
    ReentrancyAttacker private immutable ATTACKER;

    constructor(ReentrancyAttacker attacker) {
        ATTACKER = attacker;
    }

    receive() external payable {
        ATTACKER.attack();
    }
}

/// @notice A contract wallet that accepts the digests it was given to sign, accepts the native coin unless it is
/// configured to reject it, and re-enters when queried for a signature and when paid. Serves as a wallet, as a fee
/// signer, and as code for delegating accounts.
contract ReentrantWallet {
    error NativeRejected();

    ReentrancyAttacker private immutable ATTACKER;
    mapping(bytes32 digest => bool) private signed;
    bool private rejecting;

    constructor(ReentrancyAttacker attacker) {
        ATTACKER = attacker;
    }

    receive() external payable {
        if (rejecting) revert NativeRejected();
        ATTACKER.attack();
    }

    function sign(bytes32 digest) external {
        signed[digest] = true;
    }

    function setRejecting(bool rejecting_) external {
        rejecting = rejecting_;
    }

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        ATTACKER.attackStatically();
        return signed[digest] ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @notice A listed router that re-enters, spends all or part of its allowance, pays from its own balance or not at
/// all, returns a wrong amount, reverts with a lot of data, and looks for approvals left over by an earlier leg.
contract HostileRouter {
    using SafeERC20 for IERC20;

    enum Behavior {
        SpendsHalf,
        SpendsAll,
        PaysNothing,
        RevertsWithLongData
    }

    struct Swap {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    uint256 private constant PAYOUT = 1e6;
    uint256 private constant LONG_DATA_BYTES = 10_000;

    ReentrancyAttacker private immutable ATTACKER;
    Behavior public behavior;
    IERC20 private previous;
    bool public foundLeftoverApproval;

    constructor(ReentrancyAttacker attacker) {
        ATTACKER = attacker;
    }

    function setBehavior(Behavior behavior_) external {
        behavior = behavior_;
    }

    function exactInputSingle(Swap calldata swap) external payable returns (uint256) {
        ATTACKER.attack();
        if (behavior == Behavior.RevertsWithLongData) _revertWithLongData();
        IERC20 token = IERC20(swap.tokenIn);
        _checkLeftoverApproval(token);
        uint256 allowed = token.allowance(msg.sender, address(this));
        uint256 taken = behavior == Behavior.SpendsHalf ? allowed / 2 : allowed;
        if (taken != 0) token.safeTransferFrom(msg.sender, address(this), taken);
        if (behavior != Behavior.PaysNothing) IERC20(swap.tokenOut).safeTransfer(msg.sender, PAYOUT);
        return type(uint256).max;
    }

    function _checkLeftoverApproval(IERC20 token) private {
        bool another = address(previous) != address(0) && previous != token;
        if (another && previous.allowance(msg.sender, address(this)) != 0) foundLeftoverApproval = true;
        previous = token;
    }

    function _revertWithLongData() private pure {
        assembly ("memory-safe") {
            revert(0, LONG_DATA_BYTES)
        }
    }
}
