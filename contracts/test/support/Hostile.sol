// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Hostile parties
/// @notice Those who meet a sweep and do not wish it well: tokens that call back, recipients that refuse, burn or shout.

/// @notice What the tokens here have in common: anyone may mint.
abstract contract FreeToken is ERC20 {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice A token that calls somebody in the middle of a transfer, as ERC-777 hooks do, and remembers the answer.
contract CallingToken is FreeToken {
    address public target;
    bytes public callData;
    bool public called;
    bool public succeeded;
    bytes public answer;

    constructor() ERC20("Calling", "CALL") {}

    function arm(address target_, bytes calldata callData_) external {
        (target, callData) = (target_, callData_);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (target == address(0) || called) return;
        called = true;
        (succeeded, answer) = target.call(callData);
    }
}

/// @notice A token whose transfers to one address fail, as those of blocklisting tokens do.
contract BlockingToken is FreeToken {
    error Blocked(address account);

    address public blocked;

    constructor() ERC20("Blocking", "BLOCK") {}

    function blockAccount(address account) external {
        blocked = account;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (to == blocked) revert Blocked(to);
        super._update(from, to, amount);
    }
}

/// @notice What the router offers to whoever asks: everything of a token that lies on it.
interface ISweepableRouter {
    function sweepToken(address token, uint256 amountMinimum, address recipient) external payable;
}

/// @notice A token that, while it is pulled, helps itself to another token that lies open on the router, and leaves a crumb so
/// that the swap of the other token still finds something.
contract RaidingToken is FreeToken {
    uint256 private constant CRUMB = 1e12;
    address private router;
    ERC20 private prey;

    constructor() ERC20("Raiding", "RAID") {}

    function arm(address router_, address prey_) external {
        (router, prey) = (router_, ERC20(prey_));
    }

    function loot() external view returns (uint256) {
        return prey.balanceOf(address(this));
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (router != address(0)) {
            ISweepableRouter(router).sweepToken(address(prey), 0, address(this));
            if (prey.balanceOf(address(this)) > CRUMB) prey.transfer(router, CRUMB);
        }
        return super.transferFrom(from, to, amount);
    }
}

/// @notice A token that says once that it moved and did not.
contract LyingToken is FreeToken {
    bool private lying;

    constructor() ERC20("Lying", "LIE") {}

    function lie() external {
        lying = true;
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (!lying) return super.transferFrom(from, to, amount);
        lying = false;
        return true;
    }
}

/// @notice A token that returns false where others revert.
contract FalseToken is FreeToken {
    constructor() ERC20("False", "FALSE") {}

    function transfer(address to, uint256 amount) public override returns (bool) {
        return balanceOf(msg.sender) >= amount && super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        bool possible = balanceOf(from) >= amount && allowance(from, msg.sender) >= amount;
        return possible && super.transferFrom(from, to, amount);
    }
}

/// @notice A token that refuses to move nothing.
contract ZeroRefusingToken is FreeToken {
    error NothingMoved();

    constructor() ERC20("Zero refusing", "ZERO") {}

    function _update(address from, address to, uint256 amount) internal override {
        if (amount == 0) revert NothingMoved();
        super._update(from, to, amount);
    }
}

/// @notice A token of shares whose balances grow and shrink, and whose transfers round to whole shares, so that a unit can get lost.
contract RebasingToken {
    string public constant name = "Rebasing";
    string public constant symbol = "REBASE";
    uint8 public constant decimals = 18;
    uint256 public supply = 1e18;
    uint256 public totalShares = 1e18;
    mapping(address account => uint256 amount) public shares;
    mapping(address owner => mapping(address spender => uint256 amount)) public allowance;

    event Transfer(address indexed from, address indexed to, uint256 amount);
    event Approval(address indexed owner, address indexed spender, uint256 amount);

    error Insufficient();

    function mint(address to, uint256 amount) external {
        uint256 added = (amount * totalShares + supply - 1) / supply;
        (supply, totalShares) = (supply + amount, totalShares + added);
        shares[to] += added;
    }

    /// @dev The growth is odd on purpose: after it, a share is no whole number of units.
    function rebase() external {
        supply += supply / 7 + 1;
    }

    /// @dev What validators lose.
    function shrink() external {
        supply -= supply / 8;
    }

    function balanceOf(address account) public view returns (uint256) {
        return shares[account] * supply / totalShares;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        _move(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        uint256 current = allowance[from][msg.sender];
        if (current < amount) revert Insufficient();
        if (current != type(uint256).max) allowance[from][msg.sender] = current - amount;
        _move(from, to, amount);
        return true;
    }

    function _move(address from, address to, uint256 amount) private {
        uint256 moved = amount * totalShares / supply;
        if (shares[from] < moved) revert Insufficient();
        shares[from] -= moved;
        shares[to] += moved;
        emit Transfer(from, to, amount);
    }
}

/// @notice Has no way to receive the coin.
contract RefusingRecipient {}

/// @notice Uses up all gas that it is given.
contract BurningRecipient {
    uint256 private burnt;

    receive() external payable {
        while (true) ++burnt;
    }
}

/// @notice Fails with as much return data as its gas buys.
contract ShoutingRecipient {
    receive() external payable {
        assembly ("memory-safe") {
            revert(0, 10000)
        }
    }
}

/// @notice Calls somebody when it receives the coin, and remembers the answer.
contract CallingRecipient {
    address public target;
    bytes public callData;
    bytes4 public refusal;

    function arm(address target_, bytes calldata callData_) external {
        (target, callData) = (target_, callData_);
    }

    receive() external payable {
        (bool succeeded, bytes memory answer) = target.call(callData);
        if (!succeeded) refusal = bytes4(answer);
    }
}

/// @notice A contract wallet: accepts every signature by EIP-1271 and sends what it is told; takes coin only if it was told so.
contract ContractWallet {
    error NoCoin();

    bool private immutable TAKES_COIN;

    constructor(bool takesCoin) {
        TAKES_COIN = takesCoin;
    }

    receive() external payable {
        if (!TAKES_COIN) revert NoCoin();
    }

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }
}

/// @notice Says no to every signature, by EIP-1271.
contract DenyingSigner {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}
