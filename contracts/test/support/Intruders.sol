// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {FreeToken} from "./Hostile.sol";

/// @title Intruders
/// @notice Those who are called in the middle of a sweep and try to get in again, from every place where a sweep calls out: a token
/// that moves, is approved or asked for a balance, a router, a recipient, and wallets that are asked for a signature or paid.

/// @notice Knocks for all of them at the doors of one contract, one door after the other. It may be made an administrator: even
/// so no door opens while a sweep runs, and each must answer with the word of the re-entrancy guard.
contract Burglar {
    error Entered(bytes4 door);

    bytes4 private constant GUARDED = bytes4(keccak256("ReentrancyGuardReentrantCall()"));
    uint256 private constant ARGUMENTS = 28 * 32; // zeros, enough for the longest of the calls
    uint256 private constant BY_THE_MANAGER = 5; // each fifth knock is made by the manager

    IAccessManager private immutable MANAGER;
    address private target;
    bytes4[] private doors;
    // counted from one: a fee recipient is given too little gas to fill a slot that is empty
    uint256 private turns = 1;
    uint256 private finds = 1;
    mapping(address intruder => uint256) private turnsOf;

    constructor(IAccessManager manager) {
        MANAGER = manager;
    }

    function aim(address target_, bytes4[] calldata doors_) external {
        (target, doors) = (target_, doors_);
    }

    /// @dev To be told of before it knocks.
    function expect(address intruder) external {
        turnsOf[intruder] = 1;
    }

    function knock() external {
        uint256 turn = turns++;
        ++turnsOf[msg.sender];
        bytes memory call = _call(turn);
        bool opened;
        bytes memory answer;
        if (turn % BY_THE_MANAGER != 0) {
            (opened, answer) = target.call(call);
        } else if (turn % 2 == 0) {
            (opened, answer) = address(MANAGER).call(abi.encodeCall(MANAGER.execute, (target, call)));
        } else {
            (opened, answer) = address(MANAGER).call(abi.encodeCall(MANAGER.updateAuthority, (target, target)));
        }
        if (opened || bytes4(answer) != GUARDED) ++finds;
    }

    function knocks() external view returns (uint256) {
        return turns - 1;
    }

    function knocksOf(address intruder) external view returns (uint256) {
        return turnsOf[intruder] - 1;
    }

    function entered() external view returns (bool) {
        return finds != 1;
    }

    /// @dev For those that are asked and may change nothing: what is found out is told by reverting.
    function peek() external view {
        bytes memory call = _call(gasleft());
        (bool opened, bytes memory answer) = target.staticcall(call);
        if (opened || bytes4(answer) != GUARDED) revert Entered(bytes4(call));
    }

    function _call(uint256 turn) private view returns (bytes memory) {
        return abi.encodePacked(doors[turn % doors.length], new bytes(ARGUMENTS));
    }
}

/// @notice A token as of ERC-777: whoever holds it is called when it moves, and so is whoever asks for a balance or approves.
contract IntrudingToken is FreeToken {
    Burglar private immutable BURGLAR;
    bool private armed;

    constructor(Burglar burglar) ERC20("Intruding", "INTRUDE") {
        BURGLAR = burglar;
    }

    function arm(bool armed_) external {
        armed = armed_;
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        if (armed) BURGLAR.knock();
        return super.approve(spender, amount);
    }

    function balanceOf(address account) public view override returns (uint256) {
        if (armed) BURGLAR.peek();
        return super.balanceOf(account);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (armed) BURGLAR.knock();
    }
}

/// @notice Takes the coin and intrudes.
contract IntrudingRecipient {
    Burglar private immutable BURGLAR;

    constructor(Burglar burglar) {
        BURGLAR = burglar;
    }

    receive() external payable {
        BURGLAR.knock();
    }
}

/// @notice A contract wallet that accepts what it was told to sign, takes the coin if it was not told to refuse, and intrudes when
/// it is asked and when it is paid. The code of a wallet of its own, of a fee signer, and of an account that delegates to it.
contract IntrudingWallet {
    error NoCoin();

    Burglar private immutable BURGLAR;
    mapping(bytes32 digest => bool) private signed;
    bool private refusing;

    constructor(Burglar burglar) {
        BURGLAR = burglar;
    }

    receive() external payable {
        if (refusing) revert NoCoin();
        BURGLAR.knock();
    }

    function sign(bytes32 digest) external {
        signed[digest] = true;
    }

    function refuse(bool refusing_) external {
        refusing = refusing_;
    }

    function isValidSignature(bytes32 digest, bytes calldata) external view returns (bytes4) {
        BURGLAR.peek();
        return signed[digest] ? this.isValidSignature.selector : bytes4(0xffffffff);
    }
}

/// @notice A listed router that intrudes, spends what it likes of what it may, pays out of its own pocket or not at all, lies about
/// how much, fails loudly, and looks for approvals that an earlier leg left.
contract HostileRouter {
    using SafeERC20 for IERC20;

    enum Mood {
        SpendsHalf,
        SpendsAll,
        PaysNothing,
        Shouts
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

    uint256 private constant PAID = 1e6;
    uint256 private constant SHOUT = 10_000; // bytes

    Burglar private immutable BURGLAR;
    Mood public mood;
    IERC20 private previous;
    bool public foundAnApproval;

    constructor(Burglar burglar) {
        BURGLAR = burglar;
    }

    function setMood(Mood mood_) external {
        mood = mood_;
    }

    function exactInputSingle(Swap calldata swap) external payable returns (uint256) {
        BURGLAR.knock();
        if (mood == Mood.Shouts) _shout();
        IERC20 token = IERC20(swap.tokenIn);
        _look(token);
        uint256 allowed = token.allowance(msg.sender, address(this));
        uint256 taken = mood == Mood.SpendsHalf ? allowed / 2 : allowed;
        if (taken != 0) token.safeTransferFrom(msg.sender, address(this), taken);
        if (mood != Mood.PaysNothing) IERC20(swap.tokenOut).safeTransfer(msg.sender, PAID);
        return type(uint256).max;
    }

    function _look(IERC20 token) private {
        bool another = address(previous) != address(0) && previous != token;
        if (another && previous.allowance(msg.sender, address(this)) != 0) foundAnApproval = true;
        previous = token;
    }

    function _shout() private pure {
        assembly ("memory-safe") {
            revert(0, SHOUT)
        }
    }
}
