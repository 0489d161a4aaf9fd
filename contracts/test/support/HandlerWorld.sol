// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../../src/interfaces/IVenueList.sol";
import {
    BlocklistToken,
    GasBurningRecipient,
    LyingToken,
    RebasingToken,
    RejectingRecipient,
    ReturnBombRecipient,
    ReturnsFalseToken,
    RevertsOnZeroToken
} from "./Hostile.sol";
import {HostileVenue, PoolWatcher, WatchingDaiKindToken, WatchingToken} from "./InvariantActors.sol";
import {
    HostileRouter,
    ReentrancyAttacker,
    ReentrantRecipient,
    ReentrantToken,
    ReentrantWallet
} from "./ReentrancyActors.sol";
import {SweepV4Test} from "./SweepV4Test.sol";
import {ISwapRouter02, IUniswapV3Factory} from "./Uniswap.sol";

interface IV3Liquidity {
    function initialize(uint160 sqrtPriceX96) external;
    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes calldata data) external;
    function slot0() external view returns (uint160, int24 tick, uint16, uint16, uint16, uint8, bool);
}

/// @title HandlerWorld
/// @notice The environment of the random sweeps of the invariant tests: users with and without code that hold every
/// token, tokens of every kind with deep, shallow and hostile pools, honest and hostile routers, fee recipients and fee
/// signers.
abstract contract HandlerWorld is SweepV4Test {
    using SafeERC20 for IERC20;

    enum PoolKind {
        V3,
        V2,
        HostileV3,
        HostileV2
    }

    struct Pool {
        PoolKind kind;
        uint24 fee;
        address account;
    }

    uint256 internal constant USERS = 3;
    uint256 internal constant FIRST_USER = 2; // in `accounts`, after the two contracts
    uint256 internal constant REBASE_UNITS = 2;
    uint256 private constant HOLDINGS = 1e9; // of every token, in whole tokens
    uint24 internal constant SHALLOW_FEE = 500;
    int24 private constant SHALLOW_TICK_SPACING = 10;
    uint24 private constant HOSTILE_FEE = 100;

    ReentrancyAttacker internal attacker;
    PoolWatcher internal watcher;
    ReentrantToken internal reentrant;
    RebasingToken internal rebasing;
    BlocklistToken internal blocking;
    LyingToken internal lying;
    WatchingToken internal watching;
    WatchingDaiKindToken internal daiKind;
    HostileRouter internal hostile;
    HostileVenue internal hostileVenue;
    address internal codelessRouter = makeAddr("a listed router that lost its code");

    address[] internal accounts; // the two contracts, users, fee recipients
    address[] internal tokens;
    address[] internal outputs;
    address[] internal signers; // two keys and a contract
    mapping(address token => uint256 units) internal oneToken; // units of one whole token
    mapping(address account => uint256 key) internal keys; // zero for accounts that sign by code
    mapping(address token => mapping(address other => Pool[])) internal pools; // both ways
    mapping(address batch => mapping(PoolKind => uint16 id)) internal venueIds;

    function setUp() public virtual override {
        super.setUp();
        attacker = new ReentrancyAttacker(manager);
        watcher = new PoolWatcher();
        manager.grantRole(0, address(attacker), 0); // even an administrator must not be able to re-enter
        _makeTokens();
        _makeMorePools();
        _makeAccounts();
        _makeSigners();
        hostile = new HostileRouter(attacker);
        vm.etch(codelessRouter, address(hostile).code);
        _listHostile(v5);
        _listHostile(v4);
        vm.etch(codelessRouter, "");
        for (uint256 j = 0; j < tokens.length; ++j) {
            _fund(tokens[j], address(hostile), oneToken[tokens[j]] * 1e6 + 1e15);
            for (uint256 i = 0; i < USERS; ++i) {
                _equip(accounts[FIRST_USER + i], tokens[j]);
            }
        }
    }

    /// @dev Users have approved Permit2 and, as those who batch their calls, both contracts.
    function _equip(address account, address token) private {
        _give(account, token, HOLDINGS * oneToken[token]);
        vm.startPrank(account);
        IERC20(token).forceApprove(address(v5), type(uint256).max);
        IERC20(token).forceApprove(address(v4), type(uint256).max);
        vm.stopPrank();
    }

    // ---------------------------------------------------------------- tokens

    function _makeTokens() private {
        reentrant = new ReentrantToken(attacker);
        rebasing = new RebasingToken();
        blocking = new BlocklistToken();
        lying = new LyingToken();
        watching = new WatchingToken(watcher);
        daiKind = new WatchingDaiKindToken(watcher);
        _registerToken(address(weth), 18);
        _registerStandardToken(usdc, 6);
        _registerStandardToken(wbtc, 8);
        _registerStandardToken(dai, 18);
        _registerStandardToken(gusd, 2);
        _registerStandardToken(usdt, 6);
        _registerToken(address(taxed), 18);
        _registerPool(PoolKind.V2, 0, address(taxed), address(weth));
        _registerStandardToken(_tokenWithPools("MintableToken", "ZERO", 0), 0);
        IERC20 thirty = IERC20(deployCode(_artifact("MintableToken"), abi.encode("THIRTY", "THIRTY", uint8(30))));
        _addV3Pool(address(thirty), address(weth), POOL_TOKENS * 1e30, POOL_WETH);
        _addV2Pool(thirty, address(weth), 2_000e30, 1e18); // as much as a V2 pool can hold
        _registerStandardToken(thirty, 30);
        _addToken(reentrant);
        _addToken(blocking);
        _addToken(watching);
        _addToken(daiKind);
        _addToken(lying);
        _addToken(new ReturnsFalseToken());
        _addToken(new RevertsOnZeroToken());
        _registerToken(address(rebasing), 18);
        _addV2Pool(IERC20(address(rebasing)), address(weth), POOL_TOKENS * 1e18, POOL_WETH);
        _registerPool(PoolKind.V2, 0, address(rebasing), address(weth));
        outputs = [address(weth), NATIVE, address(usdc), address(usdt), address(dai), address(usdc), NATIVE];
        outputs.push(address(reentrant));
        outputs.push(address(blocking));
        outputs.push(tokens[tokens.length - 2]); // the one that reverts on zero transfers
    }

    function _addToken(IERC20 token) private {
        _addPools(token, POOL_TOKENS * 1e18);
        _registerStandardToken(token, 18);
    }

    /// @dev For tokens with the usual pools.
    function _registerStandardToken(IERC20 token, uint256 decimals) private {
        _registerToken(address(token), decimals);
        _registerPool(PoolKind.V3, POOL_FEE, address(token), address(weth));
        _registerPool(PoolKind.V2, 0, address(token), address(weth));
    }

    function _registerToken(address token, uint256 decimals) private {
        tokens.push(token);
        oneToken[token] = 10 ** decimals;
    }

    // ---------------------------------------------------------------- pools

    /// @dev The address is computed by the contract; other tests compare that with the real pools.
    function _registerPool(PoolKind kind, uint24 fee, address tokenA, address tokenB) private {
        address account = v5.poolAddress(uint16(kind) + 1, tokenA, tokenB, fee);
        pools[tokenA][tokenB].push(Pool(kind, fee, account));
        pools[tokenB][tokenA].push(Pool(kind, fee, account));
    }

    /// @dev Shallow pools, pools without the wrapped native token, and hostile ones.
    function _makeMorePools() private {
        _addShallowPool(address(usdc), address(weth), POOL_WETH);
        _addShallowPool(address(dai), address(weth), POOL_WETH);
        _addShallowPool(address(wbtc), address(weth), POOL_WETH);
        _addShallowPool(address(watching), address(weth), POOL_WETH);
        _addShallowPool(address(watching), address(usdc), POOL_TOKENS * 1e6);
        _addShallowPool(address(daiKind), address(usdc), POOL_TOKENS * 1e6);
        _addV3Pool(address(dai), address(usdc), POOL_TOKENS * 1e18, POOL_TOKENS * 1e6);
        _registerPool(PoolKind.V3, POOL_FEE, address(dai), address(usdc));
        _addV2Pool(watching, address(usdc), POOL_TOKENS * 1e18, POOL_TOKENS * 1e6);
        _registerPool(PoolKind.V2, 0, address(watching), address(usdc));

        hostileVenue = new HostileVenue(attacker, router, address(weth));
        for (uint16 i = 0; i < 4; ++i) {
            venueIds[address(v5)][PoolKind(i)] = venueIds[address(v4)][PoolKind(i)] = i + 1;
        }
        _listHostileVenue(v5);
        _listHostileVenue(v4);
        address[6] memory victims =
            [address(usdc), address(dai), address(wbtc), address(gusd), address(watching), address(reentrant)];
        for (uint256 i = 0; i < victims.length; ++i) {
            _addHostilePools(victims[i], address(weth));
        }
        _addHostilePools(address(dai), address(usdc));
        _addHostilePools(address(watching), address(usdc));
    }

    function _listHostileVenue(ISweepBatch batch) private {
        IVenueList.Venue memory venue = _v3Venue();
        (venue.deployer, venue.initCodeHash) = (address(hostileVenue), hostileVenue.initCodeHash());
        batch.listVenue(3, venue);
        venue = _v2Venue();
        (venue.deployer, venue.initCodeHash) = (address(hostileVenue), hostileVenue.initCodeHash());
        venue.saltRule = IVenueList.SaltRule.Pair;
        batch.listVenue(4, venue);
    }

    function _addHostilePools(address tokenA, address tokenB) private {
        for (uint256 i = 2; i < 4; ++i) {
            bytes memory saltSuffix = PoolKind(i) == PoolKind.HostileV3 ? abi.encode(HOSTILE_FEE) : bytes("");
            address pool = address(hostileVenue.create(tokenA, tokenB, saltSuffix));
            _fund(tokenA, pool, oneToken[tokenA] * 1e6);
            _fund(tokenB, pool, oneToken[tokenB] * 1e3);
            _registerPool(PoolKind(i), PoolKind(i) == PoolKind.HostileV3 ? HOSTILE_FEE : 0, tokenA, tokenB);
            assertGt(pools[tokenA][tokenB][pools[tokenA][tokenB].length - 1].account.code.length, 0, "no hostile pool");
        }
    }

    /// @dev Its liquidity is close to the current price, and is used up by larger sweeps.
    function _addShallowPool(address token, address other, uint256 otherAmount) private {
        uint256 amount = POOL_TOKENS * oneToken[token];
        address pool = IUniswapV3Factory(router.factory()).createPool(token, other, SHALLOW_FEE);
        bool isFirst = token < other;
        uint256 price =
            isFirst ? Math.mulDiv(otherAmount, 1 << 192, amount) : Math.mulDiv(amount, 1 << 192, otherAmount);
        IV3Liquidity(pool).initialize(uint160(Math.sqrt(price)));
        (, int24 tick,,,,,) = IV3Liquidity(pool).slot0();
        int24 middle = tick / SHALLOW_TICK_SPACING * SHALLOW_TICK_SPACING;
        uint128 liquidity = uint128(Math.sqrt(amount * otherAmount) / 8);
        (address token0, address token1) = isFirst ? (token, other) : (other, token);
        IV3Liquidity(pool)
            .mint(
                address(this),
                middle - 6 * SHALLOW_TICK_SPACING,
                middle + 6 * SHALLOW_TICK_SPACING,
                liquidity,
                abi.encode(token0, token1)
            );
        _registerPool(PoolKind.V3, SHALLOW_FEE, token, other);
    }

    function uniswapV3MintCallback(uint256 owed0, uint256 owed1, bytes calldata data) external {
        (address token0, address token1) = abi.decode(data, (address, address));
        _fund(token0, msg.sender, owed0);
        _fund(token1, msg.sender, owed1);
    }

    // ---------------------------------------------------------------- accounts and routers

    function _makeAccounts() private {
        address delegating = makeAddr("user that delegates to code");
        ReentrantWallet wallet = new ReentrantWallet(attacker);
        vm.etch(delegating, abi.encodePacked(hex"ef0100", address(wallet)));
        keys[user] = userKey;
        accounts = [address(v5), address(v4), user, address(wallet), delegating, partner, protocol];
        accounts.push(address(new ReentrantRecipient(attacker)));
        accounts.push(address(new RejectingRecipient()));
        accounts.push(address(new GasBurningRecipient()));
        accounts.push(address(new ReturnBombRecipient()));
    }

    function _makeSigners() private {
        (address other, uint256 otherKey) = makeAddrAndKey("other fee signer");
        (keys[signer], keys[other]) = (signerKey, otherKey);
        signers = [signer, other, address(new ReentrantWallet(attacker))];
    }

    /// @dev One router is a token, which may be called only by sweeps of other tokens.
    function _listHostile(ISweepBatch batch) private {
        batch.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, address(hostile));
        batch.allowRouter(address(dai), ISwapRouter02.exactInput.selector, address(dai));
        batch.allowRouter(codelessRouter, ISwapRouter02.exactInput.selector, address(router));
    }

    // ---------------------------------------------------------------- signatures

    /// @dev Accounts with code store the digest and confirm it later; the others sign 65 bytes, or 64 where that is
    /// accepted.
    function _signAs(address who, bytes32 digest, bool compact) internal returns (bytes memory) {
        if (keys[who] == 0) {
            ReentrantWallet(payable(who)).sign(digest);
            return "";
        }
        if (!compact) return _signature(keys[who], digest);
        (bytes32 r, bytes32 vs) = vm.signCompact(keys[who], digest);
        return abi.encodePacked(r, vs);
    }
}
