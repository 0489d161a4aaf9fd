// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title TrapToken
/// @notice A token that behaves until a condition holds by which it can tell a trial from a transaction, or its victim
/// from others. Tests put its code in place of a MintableToken with 18 decimals, whose balances and pools it keeps. Anyone
/// may arm it: it is only used on a local chain.
contract TrapToken is ERC20 {
    enum Condition {
        Never,
        SenderHasNoCode,
        GasHasAPrice,
        BlockHasABaseFee,
        ContractCalls,
        BlockHasACoinbase
    }
    enum Harm {
        Refuse,
        DeliverNothing,
        BurnAllGas,
        RevertWithAMegabyte,
        TakeAll,
        LieAboutBalances
    }

    /// @dev Behind the storage of ERC20.
    Condition private _condition;
    Harm private _harm;

    constructor() ERC20("Trap", "TRAP") {}

    function arm(Condition condition, Harm harm) external {
        (_condition, _harm) = (condition, harm);
    }

    function balanceOf(address account) public view override returns (uint256) {
        return _harm == Harm.LieAboutBalances ? 2 * super.balanceOf(account) : super.balanceOf(account);
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (!_holds(from)) return super._update(from, to, amount);
        if (_harm == Harm.DeliverNothing) return;
        if (_harm == Harm.TakeAll) return super._update(from, address(0), amount);
        if (_harm == Harm.BurnAllGas) {
            while (true) {}
        }
        uint256 size = _harm == Harm.RevertWithAMegabyte ? 1 << 20 : 0;
        assembly ("memory-safe") {
            revert(mload(0x40), size)
        }
    }

    function _holds(address from) private view returns (bool) {
        if (_condition == Condition.SenderHasNoCode) return from.code.length == 0;
        if (_condition == Condition.GasHasAPrice) return tx.gasprice != 0;
        if (_condition == Condition.BlockHasABaseFee) return block.basefee != 0;
        if (_condition == Condition.BlockHasACoinbase) return block.coinbase != address(0);
        return _condition == Condition.ContractCalls && msg.sender != from && from == tx.origin;
    }
}
