// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Hostile parties
/// @notice Hostile participants of a sweep: tokens that call back, and recipients that reject, burn gas or return too
/// much data.

/// @notice The base of these tokens: anyone may mint.
abstract contract OpenMintToken is ERC20 {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice A token that makes a call in the middle of a transfer, as ERC-777 hooks do, and stores the response.
contract CallbackToken is OpenMintToken {
    address public target;
    bytes public callData;
    bool public called;
    bool public succeeded;
    bytes public response;

    constructor() ERC20("Callback", "CALLBACK") {}

    function arm(address target_, bytes calldata callData_) external {
        (target, callData) = (target_, callData_);
    }

    function _update(address from, address to, uint256 amount) internal override {
        super._update(from, to, amount);
        if (target == address(0) || called) return;
        called = true;
        (succeeded, response) = target.call(callData);
    }
}

/// @notice A token that reverts on transfers to a blocked address.
contract BlocklistToken is OpenMintToken {
    error Blocked(address account);

    address public blocked;

    constructor() ERC20("Blocklist", "BLOCK") {}

    function blockAccount(address account) external {
        blocked = account;
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (to == blocked) revert Blocked(to);
        super._update(from, to, amount);
    }
}

/// @notice A token that keeps one unit of transfers of one amount, or refuses them.
contract PickyToken is OpenMintToken {
    uint256 private immutable AMOUNT;
    bool private immutable REFUSES;

    error AmountRefused();

    constructor(uint256 amount, bool refuses) ERC20("Picky", "PICKY") {
        (AMOUNT, REFUSES) = (amount, refuses);
    }

    function _update(address from, address to, uint256 amount) internal override {
        bool isPicked = amount == AMOUNT && from != address(0);
        if (isPicked && REFUSES) revert AmountRefused();
        super._update(from, to, amount);
        if (isPicked) super._update(to, address(0), 1);
    }
}

/// @notice The router's function that sends its balance of a token to anyone who calls it.
interface ISweepableRouter {
    function sweepToken(address token, uint256 amountMinimum, address recipient) external payable;
}

/// @notice A token that, while being transferred, takes another token's balance from the router, and leaves a little so
/// that the swap of the other token does not fail.
contract RouterDrainingToken is OpenMintToken {
    uint256 private constant LEFTOVER = 1e12;
    address private router;
    ERC20 private victim;

    constructor() ERC20("Router draining", "DRAIN") {}

    function arm(address router_, address prey_) external {
        (router, victim) = (router_, ERC20(prey_));
    }

    function stolen() external view returns (uint256) {
        return victim.balanceOf(address(this));
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (router != address(0)) {
            ISweepableRouter(router).sweepToken(address(victim), 0, address(this));
            if (victim.balanceOf(address(this)) > LEFTOVER) require(victim.transfer(router, LEFTOVER));
        }
        return super.transferFrom(from, to, amount);
    }
}

/// @notice A token that once reports a transfer as successful without transferring anything.
contract LyingToken is OpenMintToken {
    bool private lying;

    constructor() ERC20("Lying", "LIE") {}

    function lieOnce() external {
        lying = true;
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (!lying) return super.transferFrom(from, to, amount);
        lying = false;
        return true;
    }
}

/// @notice A token that returns false instead of reverting.
contract ReturnsFalseToken is OpenMintToken {
    constructor() ERC20("False", "FALSE") {}

    function transfer(address to, uint256 amount) public override returns (bool) {
        return balanceOf(msg.sender) >= amount && super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        bool valid = balanceOf(from) >= amount && allowance(from, msg.sender) >= amount;
        return valid && super.transferFrom(from, to, amount);
    }
}

/// @notice A token that reverts on transfers of zero.
contract RevertsOnZeroToken is OpenMintToken {
    error ZeroTransfer();

    constructor() ERC20("Reverts on zero", "ZERO") {}

    function _update(address from, address to, uint256 amount) internal override {
        if (amount == 0) revert ZeroTransfer();
        super._update(from, to, amount);
    }
}

/// @notice A token with shares whose balances grow and shrink; transfers round to whole shares, so a unit may be lost.
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

    /// @dev Grows by an odd amount, so that a share is not a whole number of units afterwards.
    function rebase() external {
        supply += supply / 7 + 1;
    }

    /// @dev As when validators are slashed.
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

/// @notice Cannot receive the native coin.
contract RejectingRecipient {}

/// @notice Burns all the gas that it is given.
contract GasBurningRecipient {
    uint256 private burned;

    receive() external payable {
        while (true) ++burned;
    }
}

/// @notice Reverts with as much return data as its gas allows.
contract ReturnBombRecipient {
    receive() external payable {
        assembly ("memory-safe") {
            revert(0, 10000)
        }
    }
}

/// @notice Makes a call when it receives the native coin, and stores the selector of the error.
contract CallbackRecipient {
    address public target;
    bytes public callData;
    bytes4 public revertSelector;

    function arm(address target_, bytes calldata callData_) external {
        (target, callData) = (target_, callData_);
    }

    receive() external payable {
        (bool succeeded, bytes memory response) = target.call(callData);
        if (!succeeded) revertSelector = bytes4(response);
    }
}

/// @notice A contract wallet that accepts every signature under EIP-1271, and the native coin only if configured to.
contract ContractWallet {
    error NativeRejected();

    bool private immutable ACCEPTS_NATIVE;

    constructor(bool acceptsNative) {
        ACCEPTS_NATIVE = acceptsNative;
    }

    receive() external payable {
        if (!ACCEPTS_NATIVE) revert NativeRejected();
    }

    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return this.isValidSignature.selector;
    }
}

/// @notice Rejects every signature under EIP-1271.
contract RejectingSigner {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}
