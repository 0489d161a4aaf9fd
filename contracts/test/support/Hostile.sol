// SPDX-License-Identifier: UNLICENSED
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
