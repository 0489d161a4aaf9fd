// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IRouterAllowList} from "../../src/interfaces/IRouterAllowList.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {
    BlocklistToken,
    GasBurningRecipient,
    ReturnsFalseToken,
    LyingToken,
    RouterDrainingToken,
    RebasingToken,
    RejectingRecipient,
    ReturnBombRecipient,
    RevertsOnZeroToken
} from "./Hostile.sol";
import {
    HostileRouter,
    ReentrancyAttacker,
    ReentrantRecipient,
    ReentrantToken,
    ReentrantWallet
} from "./ReentrancyActors.sol";
import {SweepV4Test} from "./SweepV4Test.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title HandlerWorld
/// @notice The environment of the random sweeps of the invariant tests: users with and without code that hold every
/// token, tokens of every kind with real pools, honest and hostile routers, fee recipients and fee signers, and the
/// random numbers.
abstract contract HandlerWorld is SweepV4Test {
    uint256 internal constant USERS = 3;
    uint256 internal constant FIRST_USER = 2; // in `accounts`, after the two contracts
    uint256 internal constant REBASE_UNITS = 2;
    uint256 private constant HOLDINGS = 1e9; // of every token, in whole tokens

    ReentrancyAttacker internal attacker;
    ReentrantToken internal reentrant;
    RebasingToken internal rebasing;
    BlocklistToken internal blocking;
    RouterDrainingToken internal draining;
    LyingToken internal lying;
    HostileRouter internal hostile;
    address internal codelessRouter = makeAddr("a listed router that lost its code");

    address[] internal accounts; // the two contracts, users, fee recipients
    address[] internal tokens;
    address[] internal outputs;
    address[] internal signers; // two keys and a contract
    mapping(address token => uint256 units) internal oneToken; // units of one whole token
    mapping(address account => uint256 key) internal keys; // zero for accounts that sign by code
    uint256 private random;

    function setUp() public virtual override {
        super.setUp();
        attacker = new ReentrancyAttacker(manager);
        manager.grantRole(0, address(attacker), 0); // even an administrator must not be able to re-enter
        _makeTokens();
        _makeAccounts();
        _makeSigners();
        _makeRouters(v5);
        _makeRouters(v4);
        v4.allowRouter(address(router), ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
        v4.allowRouter(address(router), ISwapRouter02.swapExactTokensForTokens.selector, BOTH_MODES, address(router));
        vm.etch(codelessRouter, "");
        for (uint256 i = 0; i < USERS; ++i) {
            for (uint256 j = 0; j < tokens.length; ++j) {
                _give(accounts[FIRST_USER + i], tokens[j], HOLDINGS * oneToken[tokens[j]]);
            }
        }
    }

    function _makeTokens() private {
        reentrant = new ReentrantToken(attacker);
        rebasing = new RebasingToken();
        blocking = new BlocklistToken();
        draining = new RouterDrainingToken();
        lying = new LyingToken();
        _registerToken(address(weth), 18);
        _registerToken(address(usdc), 6);
        _registerToken(address(wbtc), 8);
        _registerToken(address(dai), 18);
        _registerToken(address(gusd), 2);
        _registerToken(address(usdt), 6);
        _registerToken(address(taxed), 18);
        _registerToken(address(_tokenWithPools("MintableToken", "ZERO", 0)), 0);
        IERC20 thirty = IERC20(deployCode(_artifact("MintableToken"), abi.encode("THIRTY", "THIRTY", uint8(30))));
        _addV3Pool(address(thirty), address(weth), POOL_TOKENS * 1e30, POOL_WETH);
        _addV2Pool(thirty, address(weth), 2_000e30, 1e18); // as much as a V2 pool can hold
        _registerToken(address(thirty), 30);
        _addToken(reentrant);
        _addToken(blocking);
        _addToken(draining);
        _addToken(lying);
        _addToken(new ReturnsFalseToken());
        _addToken(new RevertsOnZeroToken());
        _registerToken(address(rebasing), 18);
        _addV2Pool(IERC20(address(rebasing)), address(weth), POOL_TOKENS * 1e18, POOL_WETH);
        outputs = [address(weth), NATIVE, address(usdc), address(usdt), address(dai)];
        outputs.push(address(reentrant));
        outputs.push(address(blocking));
        outputs.push(tokens[tokens.length - 2]); // the one that reverts on zero transfers
        outputs.push(NATIVE);
    }

    function _addToken(IERC20 token) private {
        _addPools(token, POOL_TOKENS * 1e18);
        _registerToken(address(token), 18);
    }

    function _registerToken(address token, uint256 decimals) private {
        tokens.push(token);
        oneToken[token] = 10 ** decimals;
    }

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

    /// @dev One of the functions is for prefunded legs only, and one router is a token, which may be called only by
    /// sweeps of other tokens.
    function _makeRouters(ISweepBatch batch) private {
        if (address(hostile) == address(0)) {
            hostile = new HostileRouter(attacker);
            vm.etch(codelessRouter, address(hostile).code);
            for (uint256 i = 0; i < tokens.length; ++i) {
                _fund(tokens[i], address(hostile), oneToken[tokens[i]] * 1e6 + 1e15);
            }
        }
        batch.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(hostile));
        batch.allowRouter(address(hostile), ISwapRouter02.exactInput.selector, 2, address(0));
        batch.allowRouter(address(dai), ISwapRouter02.exactInput.selector, BOTH_MODES, address(dai));
        batch.allowRouter(codelessRouter, ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
    }

    // ---------------------------------------------------------------- randomness

    function _seedRandom(uint256 seed, uint256 salt) internal {
        random = uint256(keccak256(abi.encode(seed, salt)));
    }

    function _pick(uint256 below) internal returns (uint256) {
        random = uint256(keccak256(abi.encode(random)));
        return random % below;
    }

    function _pickFrom(address[] storage list) internal returns (address) {
        return list[_pick(list.length)];
    }

    function _pickUser() internal returns (address) {
        return accounts[FIRST_USER + _pick(USERS)];
    }

    /// @dev Any account except the two contracts, users included.
    function _pickRecipient() internal returns (address) {
        return accounts[FIRST_USER + _pick(accounts.length - FIRST_USER)];
    }

    function _pickBatch() internal returns (ISweepBatch) {
        return _pick(2) == 0 ? ISweepBatch(v5) : ISweepBatch(v4);
    }

    /// @dev Up to a thousand whole tokens, or a few units if the token has many decimals.
    function _pickAmount(address token) private returns (uint256) {
        if (oneToken[token] > 1e5 && _pick(4) == 0) return 1 + _pick(1e7);
        return 1 + oneToken[token] * (1 + _pick(1e6)) / 1000;
    }

    // ---------------------------------------------------------------- routes

    /// @dev One to three different tokens into one output, through routes that may be invalid or return nothing.
    function _randomLegs(ISweepBatch batch, address output) internal returns (ISweepBatch.Leg[] memory legs) {
        legs = new ISweepBatch.Leg[](1 + _pick(3));
        uint256 first = _pick(tokens.length);
        uint256 stride = 1 + _pick(5); // three steps never wrap around to the first token
        address settlement = output == NATIVE ? address(weth) : output;
        for (uint256 i = 0; i < legs.length; ++i) {
            legs[i] = _randomLeg(address(batch), tokens[(first + i * stride) % tokens.length], settlement);
        }
    }

    function _randomLeg(address batch, address token, address settlement) private returns (ISweepBatch.Leg memory leg) {
        leg.token = token;
        leg.amount = _pickAmount(token);
        if (token == address(weth) && settlement == address(weth)) {
            leg.funding = UNROUTED;
            return leg;
        }
        bool losesOnTransfer = token == address(taxed) || token == address(rebasing);
        leg.funding = losesOnTransfer ? APPROVED : uint8(_pick(2));
        leg.router = address(router);
        uint256 spent = leg.funding == PREFUNDED ? 0 : _minReceived(token, leg.amount);
        uint256 kind = losesOnTransfer ? 0 : _pick(5);
        bool isHop = token == address(weth) || settlement == address(weth);
        if (kind < 2) {
            leg.data = _v2Call(token, settlement, spent, batch, isHop);
        } else if (kind < 4 && !isHop) {
            leg.data = _v3PathCall(token, settlement, spent, batch);
        } else {
            leg.data = _v3Call(token, settlement, spent, batch);
            if (kind == 4) leg.router = address(hostile);
        }
    }

    function _minReceived(address token, uint256 amount) private view returns (uint256) {
        uint256 lost = token == address(taxed) ? amount / 100 + 1 : token == address(rebasing) ? REBASE_UNITS : 0;
        return amount > lost ? amount - lost : amount;
    }

    function _v2Call(address token, address settlement, uint256 spent, address batch, bool isHop)
        private
        view
        returns (bytes memory)
    {
        address[] memory path = new address[](isHop ? 2 : 3);
        (path[0], path[1], path[path.length - 1]) = (token, address(weth), settlement);
        return abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (spent, 0, path, batch));
    }

    function _v3Call(address token, address settlement, uint256 spent, address batch)
        private
        pure
        returns (bytes memory)
    {
        return abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams(token, settlement, POOL_FEE, batch, spent, 0, 0))
        );
    }

    function _v3PathCall(address token, address settlement, uint256 spent, address batch)
        private
        view
        returns (bytes memory)
    {
        bytes memory path = abi.encodePacked(token, POOL_FEE, weth, POOL_FEE, settlement);
        return abi.encodeCall(ISwapRouter02.exactInput, (ISwapRouter02.ExactInputParams(path, batch, spent, 0)));
    }

    /// @dev Whether the contract must accept these legs, as far as the legs decide.
    function _isExecutable(ISweepBatch batch, ISweepBatch.Leg[] memory legs, address output)
        internal
        view
        returns (bool)
    {
        address settlement = output == NATIVE ? address(weth) : output;
        for (uint256 i = 0; i < legs.length; ++i) {
            if (legs[i].funding == UNROUTED) {
                if (output != NATIVE) return false;
                continue;
            }
            (uint8 modes,) = batch.routerRule(legs[i].router, bytes4(legs[i].data));
            if (modes >> legs[i].funding & 1 == 0 || legs[i].token == settlement) return false;
        }
        return true;
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
