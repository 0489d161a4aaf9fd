// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {OpenMintToken} from "./Hostile.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title Attacking tokens
/// @notice Swept tokens whose code attacks the other legs of the same sweep.

/// @notice An airdrop that sandwiches another leg: while it is taken from the user it sells the other leg's token, and
/// when it is approved or sent on it buys it back.
contract SandwichingToken is OpenMintToken {
    ISwapRouter02 private router;
    IERC20 private victim;
    IERC20 private weth;
    uint24 private fee;
    uint256 private push;
    uint256 private bought;
    bool public pushed;
    /// @dev Why its swap failed, if it did.
    bytes public refusal;

    constructor() ERC20("Airdrop", "DROP") {}

    /// @dev Needs `amount` of the victim's token. A fee of zero means the V2 pair.
    function arm(ISwapRouter02 router_, IERC20 victim_, IERC20 weth_, uint24 fee_, uint256 amount) external {
        (router, victim, weth, fee, push) = (router_, victim_, weth_, fee_, amount);
        victim.approve(address(router), type(uint256).max);
        weth.approve(address(router), type(uint256).max);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        if (push != 0 && !pushed) {
            pushed = true;
            bought = _swap(victim, weth, push);
        }
        return super.transferFrom(from, to, amount);
    }

    function approve(address spender, uint256 amount) public override returns (bool) {
        _unwind();
        return super.approve(spender, amount);
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        _unwind();
        return super.transfer(to, amount);
    }

    function _unwind() private {
        if (bought == 0) return;
        uint256 amount = bought;
        bought = 0;
        _swap(weth, victim, amount);
    }

    function _swap(IERC20 tokenIn, IERC20 tokenOut, uint256 amount) private returns (uint256) {
        uint256 before = tokenOut.balanceOf(address(this));
        (bool success, bytes memory answer) = address(router).call(_call(tokenIn, tokenOut, amount));
        if (!success) refusal = answer;
        return tokenOut.balanceOf(address(this)) - before;
    }

    function _call(IERC20 tokenIn, IERC20 tokenOut, uint256 amount) private view returns (bytes memory) {
        if (fee == 0) {
            address[] memory path = new address[](2);
            (path[0], path[1]) = (address(tokenIn), address(tokenOut));
            return abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (amount, 0, path, address(this)));
        }
        return abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams(
                    address(tokenIn), address(tokenOut), fee, address(this), amount, 0, 0
                ))
        );
    }
}

/// @notice Makes a list of calls while it is transferred from the user, and stores the answers.
contract CallingToken is OpenMintToken {
    struct Call {
        address target;
        bytes data;
    }

    Call[] private calls;
    bytes[] private answers;
    uint256 public successCount;

    constructor() ERC20("Calling", "CALL") {}

    function add(address target, bytes calldata data) external {
        calls.push(Call(target, data));
    }

    function answerCount() external view returns (uint256) {
        return answers.length;
    }

    function answer(uint256 index) external view returns (bytes memory) {
        return answers[index];
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        runCalls();
        return super.transferFrom(from, to, amount);
    }

    /// @dev Public, so that a test can see that they succeed outside of a sweep.
    function runCalls() public {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory data) = calls[i].target.call(calls[i].data);
            if (success) ++successCount;
            answers.push(data);
        }
    }

    // What pools call when this contract swaps, borrows or adds liquidity: it pays nothing.
    function uniswapV3SwapCallback(int256, int256, bytes calldata) external {}

    function uniswapV3FlashCallback(uint256 fee0, uint256 fee1, bytes calldata data) external {
        (IERC20 token, uint256 borrowed) = abi.decode(data, (IERC20, uint256));
        require(token.transfer(msg.sender, borrowed + fee0 + fee1));
    }
}

/// @notice Reverts with given bytes when it is transferred from the user, or, once armed for it, when a balance is read
/// that is not zero.
contract ErrorToken is OpenMintToken {
    bytes private transferReason;
    bytes private balanceReason;
    address private balanceReader;

    constructor() ERC20("Error", "ERROR") {}

    function failTransfers(bytes calldata reason) external {
        transferReason = reason;
    }

    /// @dev Only reads by this account fail, after the transfer from the user.
    function failBalances(address reader, bytes calldata reason) external {
        (balanceReader, balanceReason) = (reader, reason);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        _raise(transferReason);
        return super.transferFrom(from, to, amount);
    }

    function balanceOf(address account) public view override returns (uint256) {
        if (msg.sender == balanceReader) _raise(balanceReason);
        return super.balanceOf(account);
    }

    function _raise(bytes memory reason) private pure {
        if (reason.length == 0) return;
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }
}

/// @notice A token with a second address, as some tokens have that were moved to a new contract and kept the old one.
contract TwoAddressToken is OpenMintToken {
    TokenAlias public immutable ALIAS;

    constructor() ERC20("Two addresses", "TWO") {
        ALIAS = new TokenAlias(this);
    }

    function transferFor(address from, address to, uint256 amount) external {
        require(msg.sender == address(ALIAS));
        _transfer(from, to, amount);
    }
}

/// @notice The second address: the same balances, with allowances of its own.
contract TokenAlias {
    TwoAddressToken private immutable TOKEN;
    mapping(address owner => mapping(address spender => uint256 amount)) public allowance;

    constructor(TwoAddressToken token) {
        TOKEN = token;
    }

    function mint(address to, uint256 amount) external {
        TOKEN.mint(to, amount);
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        TOKEN.transferFor(msg.sender, to, amount);
        return true;
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        TOKEN.transferFor(from, to, amount);
        return true;
    }

    function balanceOf(address account) external view returns (uint256) {
        return TOKEN.balanceOf(account);
    }
}

/// @notice An output token that claims balances that do not exist and makes a call when it is first transferred.
contract DishonestOutput is OpenMintToken {
    mapping(address account => uint256 amount) private bonus;
    address private target;
    bytes private data;

    constructor() ERC20("Dishonest", "LIES") {}

    /// @dev From its first transfer on.
    function setBonus(address account, uint256 amount) external {
        bonus[account] = amount;
    }

    function callOnTransfer(address target_, bytes calldata data_, IERC20 spent) external {
        (target, data) = (target_, data_);
        spent.approve(target_, type(uint256).max);
    }

    function balanceOf(address account) public view override returns (uint256) {
        uint256 real = super.balanceOf(account);
        return real == 0 ? 0 : real + bonus[account];
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        bool done = super.transfer(to, amount);
        if (target == address(0)) return done;
        address called = target;
        delete target;
        (bool success,) = called.call(data);
        return done && success;
    }
}
