// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {OpenMintToken} from "./Hostile.sol";
import {DaiKindToken, Eip2612Token} from "./PermitTokens.sol";
import {ReentrancyAttacker} from "./ReentrancyActors.sol";
import {ISwapRouter02, IUniswapV2Pair} from "./Uniswap.sol";

/// @title Invariant actors
/// @notice The participants that only the random sweeps need: tokens that look at every pool of the sweep while they are
/// transferred, and a listed venue whose pools misbehave.

interface ILockedPool {
    function slot0() external view returns (uint160, int24, uint16, uint16, uint16, uint8, bool unlocked);
}

/// @notice Finds out, on behalf of tokens, which pools of the current sweep could be traded in.
contract PoolWatcher {
    struct Watched {
        address pool;
        bool isV2;
    }

    address private user;
    Watched[] private pools;
    /// @notice The set of pools that were open at any time when a token of the user was transferred.
    uint256 public open;
    uint256 public observations;

    /// @dev Pools that are zero are not watched.
    function watch(address user_, Watched[] calldata pools_) external {
        (user, open) = (user_, 0);
        delete pools;
        for (uint256 i = 0; i < pools_.length; ++i) {
            pools.push(pools_[i]);
        }
    }

    function observe(address from) external {
        if (from != user) return;
        ++observations;
        for (uint256 i = 0; i < pools.length; ++i) {
            if (pools[i].pool != address(0) && _isOpen(pools[i])) open |= 1 << i;
        }
    }

    /// @dev A V2 pair keeps its lock to itself, so the way to learn of it is to try.
    function _isOpen(Watched memory watched) private returns (bool unlocked) {
        if (!watched.isV2) {
            (,,,,,, unlocked) = ILockedPool(watched.pool).slot0();
            return unlocked;
        }
        try IUniswapV2Pair(watched.pool).sync() {
            return true;
        } catch {
            return false;
        }
    }
}

/// @notice Looks at the pools when it is transferred and when a permit is used.
contract WatchingToken is Eip2612Token {
    PoolWatcher private immutable WATCHER;

    constructor(PoolWatcher watcher) {
        WATCHER = watcher;
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        WATCHER.observe(from);
        return super.transferFrom(from, to, amount);
    }

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
        public
        override
    {
        WATCHER.observe(owner);
        super.permit(owner, spender, value, deadline, v, r, s);
    }
}

/// @notice Looks at the pools when it is transferred.
contract WatchingDaiKindToken is DaiKindToken {
    PoolWatcher private immutable WATCHER;

    constructor(PoolWatcher watcher) {
        WATCHER = watcher;
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        WATCHER.observe(from);
        return super.transferFrom(from, to, amount);
    }
}

/// @notice The deployer of a listed venue, which decides how all of its pools behave.
contract HostileVenue {
    enum Behavior {
        Honest,
        PaysNothing, // and claims to have paid
        CallsTwice,
        NeverCalls,
        ChangesData,
        FillsPartly,
        PaysTooLittle,
        PretendsRefusal,
        Trades,
        Forges,
        RevertsWithLongData,
        Reenters
    }

    ReentrancyAttacker private immutable ATTACKER;
    ISwapRouter02 private immutable ROUTER;
    address private immutable WETH;

    Behavior public behavior;
    uint256 public word; // the index of the leg that is pretended to be refused, or of the word that is changed
    address private prey;
    uint256 public trades;
    bool public wasCalledBackWrongly;
    address public token0; // of the pool that is being created
    address public token1;

    constructor(ReentrancyAttacker attacker, ISwapRouter02 router, address weth) {
        (ATTACKER, ROUTER, WETH) = (attacker, router, weth);
    }

    function behave(Behavior behavior_, uint256 word_, address prey_) external {
        (behavior, word, prey) = (behavior_, word_, prey_);
    }

    function create(address tokenA, address tokenB, bytes calldata saltSuffix) external returns (HostilePool) {
        (token0, token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return new HostilePool{salt: keccak256(bytes.concat(abi.encode(token0, token1), saltSuffix))}();
    }

    function initCodeHash() external pure returns (bytes32) {
        return keccak256(type(HostilePool).creationCode);
    }

    /// @dev Sells a token in the pool in which others of the same sweep may be about to sell it.
    function trade(uint256 amount) external {
        if (prey == WETH) return;
        OpenMintToken(prey).mint(address(this), amount);
        SafeERC20.forceApprove(IERC20(prey), address(ROUTER), amount);
        bytes memory call = abi.encodeCall(
            ROUTER.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams(prey, WETH, 3000, address(this), amount, 0, 0))
        );
        (bool traded,) = address(ROUTER).call(call);
        if (traded) ++trades; // otherwise the pool is locked
    }

    function reenter() external {
        ATTACKER.attack();
    }

    /// @dev Repeats or forges a callback; none may be accepted.
    function tryCallback(address batch, bytes calldata call) external {
        (bool succeeded,) = batch.call(call);
        if (succeeded) wasCalledBackWrongly = true;
    }

    function report() external {
        wasCalledBackWrongly = true;
    }
}

/// @notice A pool of that venue, of either kind.
contract HostilePool {
    using SafeERC20 for IERC20;

    event Called();

    bytes4 private constant V3_CALLBACK = bytes4(keccak256("uniswapV3SwapCallback(int256,int256,bytes)"));
    bytes4 private constant V2_CALLBACK = bytes4(keccak256("uniswapV2Call(address,uint256,uint256,bytes)"));
    uint256 private constant LONG_DATA_BYTES = 10_000;
    uint256 private constant PAYMENTS = 1_000; // that the pool can make before it runs dry

    HostileVenue private immutable VENUE;
    address private immutable TOKEN0;
    address private immutable TOKEN1;

    constructor() {
        VENUE = HostileVenue(msg.sender);
        (TOKEN0, TOKEN1) = (VENUE.token0(), VENUE.token1());
    }

    function getReserves() external pure returns (uint112, uint112, uint32) {
        return (1e18, 1e18, 0);
    }

    function swap(address recipient, bool zeroForOne, int256 amount, uint160, bytes calldata data)
        external
        returns (int256, int256)
    {
        emit Called();
        HostileVenue.Behavior behavior = VENUE.behavior();
        uint256 paid = _pay(zeroForOne ? TOKEN1 : TOKEN0, recipient, uint256(amount), behavior);
        if (behavior == HostileVenue.Behavior.PaysNothing) paid = uint256(amount);
        if (behavior == HostileVenue.Behavior.PaysTooLittle) paid = 0;
        int256 owed = behavior == HostileVenue.Behavior.FillsPartly ? amount - 1 : amount;
        (int256 delta0, int256 delta1) = zeroForOne ? (owed, -int256(paid)) : (-int256(paid), owed);
        bytes memory sent = _changed(data, behavior);
        _callBack(recipient, abi.encodeWithSelector(V3_CALLBACK, delta0, delta1, sent), behavior);
        return (delta0, delta1);
    }

    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes calldata data) external {
        emit Called();
        HostileVenue.Behavior behavior = VENUE.behavior();
        _pay(amount0Out == 0 ? TOKEN1 : TOKEN0, to, amount0Out + amount1Out, behavior);
        bytes memory sent = _changed(data, behavior);
        _callBack(to, abi.encodeWithSelector(V2_CALLBACK, to, amount0Out, amount1Out, sent), behavior);
    }

    function _pay(address token, address to, uint256 amount, HostileVenue.Behavior behavior)
        private
        returns (uint256 paid)
    {
        if (behavior == HostileVenue.Behavior.PaysNothing) return 0;
        uint256 most = IERC20(token).balanceOf(address(this)) / PAYMENTS;
        paid = amount < most ? amount : most;
        IERC20(token).safeTransfer(to, paid);
    }

    /// @dev The words of an itinerary: its user, the legs' tokens, receivers and amounts, and more.
    function _changed(bytes calldata data, HostileVenue.Behavior behavior) private view returns (bytes memory changed) {
        changed = data;
        if (behavior != HostileVenue.Behavior.ChangesData) return changed;
        uint256 words = data.length / 32;
        uint256 place = 32 + 32 * (VENUE.word() % words);
        assembly ("memory-safe") {
            mstore(add(changed, place), xor(mload(add(changed, place)), address()))
        }
    }

    function _callBack(address batch, bytes memory call, HostileVenue.Behavior behavior) private {
        if (behavior == HostileVenue.Behavior.NeverCalls) return;
        if (behavior == HostileVenue.Behavior.RevertsWithLongData) _revertWithLongData();
        if (behavior == HostileVenue.Behavior.Reenters) VENUE.reenter();
        if (behavior == HostileVenue.Behavior.Trades) VENUE.trade(1e22);
        if (behavior == HostileVenue.Behavior.Forges) VENUE.tryCallback(batch, call);
        _call(batch, call);
        if (behavior == HostileVenue.Behavior.CallsTwice) {
            (bool succeeded,) = batch.call(call);
            if (succeeded) VENUE.report();
        }
        if (behavior == HostileVenue.Behavior.PretendsRefusal) {
            revert ISweepBatch.BelowLeast(VENUE.word() % 4, 0, 1);
        }
    }

    /// @dev Passes on the reason of a failure, as Uniswap's pools do.
    function _call(address batch, bytes memory call) private {
        (bool succeeded, bytes memory reason) = batch.call(call);
        if (succeeded) return;
        assembly ("memory-safe") {
            revert(add(reason, 0x20), mload(reason))
        }
    }

    function _revertWithLongData() private pure {
        assembly ("memory-safe") {
            revert(0, LONG_DATA_BYTES)
        }
    }
}
