// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title SandboxToken
/// @notice A token of the sandbox that always fails in the same way, so that a partner can try that way. All partners share it, so
/// no one can change how it behaves, and no one can mint: wallets are given some of a stock that is there from the start. Contracts
/// are given nothing, because what a pool is given moves its price.
contract SandboxToken is ERC20 {
    enum Failure {
        None,
        Sale, // nothing with code may receive it: a honeypot
        Sweep, // it can be sent, but not pulled from the account that pays for the transaction
        Later, // as Sweep, from FRESH_SECONDS after its holder was given some
        Tax // each transfer burns a part
    }

    uint256 public constant FRESH_SECONDS = 600;
    uint256 public constant GIVEN = 1_000 ether;
    uint256 public constant TAX_BPS = 100;
    uint256 private constant STOCK = 10 ** 18 * 1 ether;

    Failure public immutable FAILURE;
    address private immutable DEPLOYER = msg.sender;
    mapping(address holder => uint256 timestamp) private _freshUntil;

    error NotAWallet(address account);
    error NotTheDeployer(address account);
    error TransferRefused(address from, address to);

    constructor(string memory name_, string memory symbol_, Failure failure_) ERC20(name_, symbol_) {
        FAILURE = failure_;
        super._update(address(0), address(this), STOCK);
    }

    /// @notice Gives a wallet a thousand tokens of the stock.
    function give(address wallet) external {
        bytes memory code = wallet.code;
        bool delegates = code.length == 23 && bytes3(code) == 0xef0100; // EIP-7702
        if (code.length != 0 && !delegates) revert NotAWallet(wallet);
        _freshUntil[wallet] = block.timestamp + FRESH_SECONDS;
        super._update(address(this), wallet, GIVEN);
    }

    /// @notice Gives a new pool what it begins with.
    function seed(address pool, uint256 amount) external {
        if (msg.sender != DEPLOYER) revert NotTheDeployer(msg.sender);
        super._update(address(this), pool, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (_refuses(from, to)) revert TransferRefused(from, to);
        super._update(from, to, amount);
        if (FAILURE == Failure.Tax) super._update(to, address(0), amount * TAX_BPS / 10_000);
    }

    function _refuses(address from, address to) private view returns (bool) {
        if (FAILURE == Failure.Sale) return to.code.length != 0;
        bool isPulled = msg.sender != from && tx.origin == from;
        if (FAILURE == Failure.Sweep) return isPulled;
        return FAILURE == Failure.Later && isPulled && block.timestamp >= _freshUntil[from];
    }
}
