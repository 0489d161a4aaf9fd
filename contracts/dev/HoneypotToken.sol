// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title HoneypotToken
/// @notice A token that treats some accounts worse than others, a pool for instance, so that it can be bought or held but not sold.
/// Tests put its code in place of a MintableToken with 18 decimals, whose balances and pools it keeps. Anyone may set how an
/// account is treated: it is only used on a local chain.
contract HoneypotToken is ERC20 {
    enum Treatment {
        Honest,
        Taxed,
        Refused,
        TaxedBelowOneToken
    }

    mapping(address account => Treatment treatment) private _asSender;
    mapping(address account => Treatment treatment) private _asReceiver;

    error TransferRefused(address from, address to);

    constructor() ERC20("Honeypot", "TRAP") {}

    function treat(address account, Treatment asSender, Treatment asReceiver) external {
        _asSender[account] = asSender;
        _asReceiver[account] = asReceiver;
    }

    function _update(address from, address to, uint256 amount) internal override {
        (Treatment asSender, Treatment asReceiver) = (_asSender[from], _asReceiver[to]);
        if (asSender == Treatment.Refused || asReceiver == Treatment.Refused) revert TransferRefused(from, to);
        super._update(from, to, amount);
        if (_isTaxed(asSender, amount) || _isTaxed(asReceiver, amount)) super._update(to, address(0), amount / 100);
    }

    function _isTaxed(Treatment treatment, uint256 amount) private pure returns (bool) {
        return treatment == Treatment.Taxed || (treatment == Treatment.TaxedBelowOneToken && amount < 1 ether);
    }
}
