// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IRouterAllowList} from "../../src/interfaces/IRouterAllowList.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {
    BlockingToken,
    BurningRecipient,
    FalseToken,
    LyingToken,
    RaidingToken,
    RebasingToken,
    RefusingRecipient,
    ShoutingRecipient,
    ZeroRefusingToken
} from "./Hostile.sol";
import {Burglar, HostileRouter, IntrudingRecipient, IntrudingToken, IntrudingWallet} from "./Intruders.sol";
import {SweepV4Test} from "./SweepV4Test.sol";
import {ISwapRouter02} from "./Uniswap.sol";

/// @title HandlerWorld
/// @notice Who and what the random sweeps of the invariants meet: users with and without code that hold every token, tokens of
/// every kind in real pools, routers, fee recipients and fee signers, honest and hostile; and dice.
abstract contract HandlerWorld is SweepV4Test {
    uint256 internal constant USERS = 3;
    uint256 internal constant FIRST_USER = 2; // in `accounts`, behind the two contracts
    uint256 internal constant REBASE_UNITS = 2;
    uint256 private constant HOLDINGS = 1e9; // of every token, in whole tokens

    Burglar internal burglar;
    IntrudingToken internal intruding;
    RebasingToken internal rebasing;
    BlockingToken internal blocking;
    RaidingToken internal raiding;
    LyingToken internal lying;
    HostileRouter internal hostile;
    address internal vanished = makeAddr("a listed router that lost its code");

    address[] internal accounts; // the two contracts, users, fee recipients
    address[] internal tokens;
    address[] internal outputs;
    address[] internal signers; // two keys and a contract
    mapping(address token => uint256 units) internal whole; // smallest units of one token
    mapping(address account => uint256 key) internal keys; // zero for those that answer by code
    uint256 private random;

    function setUp() public virtual override {
        super.setUp();
        burglar = new Burglar(manager);
        manager.grantRole(0, address(burglar), 0); // even an administrator gets in by no door
        _makeTokens();
        _makeAccounts();
        _makeSigners();
        _makeRouters(v5);
        _makeRouters(v4);
        v4.allowRouter(address(router), ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
        v4.allowRouter(address(router), ISwapRouter02.swapExactTokensForTokens.selector, BOTH_MODES, address(router));
        vm.etch(vanished, "");
        for (uint256 i = 0; i < USERS; ++i) {
            for (uint256 j = 0; j < tokens.length; ++j) {
                _give(accounts[FIRST_USER + i], tokens[j], HOLDINGS * whole[tokens[j]]);
            }
        }
    }

    function _makeTokens() private {
        intruding = new IntrudingToken(burglar);
        rebasing = new RebasingToken();
        blocking = new BlockingToken();
        raiding = new RaidingToken();
        lying = new LyingToken();
        _know(address(weth), 18);
        _know(address(usdc), 6);
        _know(address(wbtc), 8);
        _know(address(dai), 18);
        _know(address(gusd), 2);
        _know(address(usdt), 6);
        _know(address(taxed), 18);
        _know(address(_listToken("MintableToken", "ZERO", 0)), 0);
        IERC20 thirty = IERC20(deployCode(_built("MintableToken"), abi.encode("THIRTY", "THIRTY", uint8(30))));
        _addV3Pool(address(thirty), address(weth), POOL_TOKENS * 1e30, POOL_WETH);
        _addV2Pool(thirty, address(weth), 2_000e30, 1e18); // as much as a V2 pool can count
        _know(address(thirty), 30);
        _list(intruding);
        _list(blocking);
        _list(raiding);
        _list(lying);
        _list(new FalseToken());
        _list(new ZeroRefusingToken());
        _know(address(rebasing), 18);
        _addV2Pool(IERC20(address(rebasing)), address(weth), POOL_TOKENS * 1e18, POOL_WETH);
        outputs = [address(weth), NATIVE, address(usdc), address(usdt), address(dai)];
        outputs.push(address(intruding));
        outputs.push(address(blocking));
        outputs.push(tokens[tokens.length - 2]); // the one that refuses zero
        outputs.push(NATIVE);
    }

    function _list(IERC20 token) private {
        _addPools(token, POOL_TOKENS * 1e18);
        _know(address(token), 18);
    }

    function _know(address token, uint256 decimals) private {
        tokens.push(token);
        whole[token] = 10 ** decimals;
    }

    function _makeAccounts() private {
        address delegating = makeAddr("user that delegates to code");
        IntrudingWallet wallet = new IntrudingWallet(burglar);
        vm.etch(delegating, abi.encodePacked(hex"ef0100", address(wallet)));
        keys[user] = userKey;
        accounts = [address(v5), address(v4), user, address(wallet), delegating, partner, protocol];
        accounts.push(address(new IntrudingRecipient(burglar)));
        accounts.push(address(new RefusingRecipient()));
        accounts.push(address(new BurningRecipient()));
        accounts.push(address(new ShoutingRecipient()));
    }

    function _makeSigners() private {
        (address other, uint256 otherKey) = makeAddrAndKey("other fee signer");
        (keys[signer], keys[other]) = (signerKey, otherKey);
        signers = [signer, other, address(new IntrudingWallet(burglar))];
    }

    /// @dev Of the routers' functions, one is for prefunded legs only; and one router is a token, which only sweeps of others may call.
    function _makeRouters(ISweepBatch batch) private {
        if (address(hostile) == address(0)) {
            hostile = new HostileRouter(burglar);
            vm.etch(vanished, address(hostile).code);
            for (uint256 i = 0; i < tokens.length; ++i) {
                _fund(tokens[i], address(hostile), whole[tokens[i]] * 1e6 + 1e15);
            }
        }
        batch.allowRouter(address(hostile), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(hostile));
        batch.allowRouter(address(hostile), ISwapRouter02.exactInput.selector, 2, address(0));
        batch.allowRouter(address(dai), ISwapRouter02.exactInput.selector, BOTH_MODES, address(dai));
        batch.allowRouter(vanished, ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
    }

    // ---------------------------------------------------------------- dice

    function _shuffle(uint256 seed, uint256 salt) internal {
        random = uint256(keccak256(abi.encode(seed, salt)));
    }

    function _pick(uint256 below) internal returns (uint256) {
        random = uint256(keccak256(abi.encode(random)));
        return random % below;
    }

    function _pickFrom(address[] storage those) internal returns (address) {
        return those[_pick(those.length)];
    }

    function _pickUser() internal returns (address) {
        return accounts[FIRST_USER + _pick(USERS)];
    }

    /// @dev Anybody but the contracts, users included.
    function _pickRecipient() internal returns (address) {
        return accounts[FIRST_USER + _pick(accounts.length - FIRST_USER)];
    }

    function _pickBatch() internal returns (ISweepBatch) {
        return _pick(2) == 0 ? ISweepBatch(v5) : ISweepBatch(v4);
    }

    /// @dev Up to a thousand whole tokens, or a few units if the token has many.
    function _pickAmount(address token) private returns (uint256) {
        if (whole[token] > 1e5 && _pick(4) == 0) return 1 + _pick(1e7);
        return 1 + whole[token] * (1 + _pick(1e6)) / 1000;
    }

    // ---------------------------------------------------------------- routes

    /// @dev One to three different tokens on their way to one output, by routes that may be impossible or bring nothing.
    function _randomLegs(ISweepBatch batch, address output) internal returns (ISweepBatch.Leg[] memory legs) {
        legs = new ISweepBatch.Leg[](1 + _pick(3));
        uint256 first = _pick(tokens.length);
        uint256 stride = 1 + _pick(5); // three steps never lead round to the first
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
        bool arrivesChanged = token == address(taxed) || token == address(rebasing);
        leg.funding = arrivesChanged ? APPROVED : uint8(_pick(2));
        leg.router = address(router);
        uint256 spent = leg.funding == PREFUNDED ? 0 : _sureToArrive(token, leg.amount);
        uint256 kind = arrivesChanged ? 0 : _pick(5);
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

    function _sureToArrive(address token, uint256 amount) private view returns (uint256) {
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

    /// @dev Whether the contract must not refuse these legs for what they are.
    function _mayRun(ISweepBatch batch, ISweepBatch.Leg[] memory legs, address output) internal view returns (bool) {
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

    /// @dev Those with code of their own remember the digest and are asked; the others give 65 bytes, or 64 where that is taken.
    function _signBy(address who, bytes32 digest, bool compact) internal returns (bytes memory) {
        if (keys[who] == 0) {
            IntrudingWallet(payable(who)).sign(digest);
            return "";
        }
        if (!compact) return _signature(keys[who], digest);
        (bytes32 r, bytes32 vs) = vm.signCompact(keys[who], digest);
        return abi.encodePacked(r, vs);
    }
}
