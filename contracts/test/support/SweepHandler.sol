// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../../src/interfaces/IVenueList.sol";
import {HostileVenue} from "./InvariantActors.sol";
import {HostileRouter, ReentrantWallet} from "./ReentrancyActors.sol";
import {RandomSweeps} from "./RandomSweeps.sol";
import {Reasons} from "./Reasons.sol";
import {ISwapRouter02, IUniswapV2Pair} from "./Uniswap.sol";

/// @title SweepHandler
/// @notice Exercises both contracts with random steps: users sweep tokens of every kind through real and hostile pools
/// and routers, signatures are forged and corrupted, sweeps are replayed, callbacks are forged, admins make valid and
/// invalid calls, strangers trade and send tokens, tokens change their behavior. After every step it compares the
/// outcome with the rules.
contract SweepHandler is RandomSweeps {
    using SafeERC20 for IERC20;

    uint256 private constant BEHAVIORS_OF_POOLS = 12;

    uint256 public steps;
    address[] private reentrantActors; // a token, a router, a wallet, a delegating user, a fee recipient, a pool
    string[] private actorNames = ["token", "router", "wallet", "delegating user", "fee recipient", "pool"];
    mapping(address batch => bool) private delisted; // the router's multi-hop V3 swap
    mapping(address batch => bool) private venueRemoved; // that of V2 pools
    uint16 private lastVenueId = 4;

    function setUp() public override {
        super.setUp();
        reentrantActors = [address(reentrant), address(hostile), accounts[3], accounts[4], accounts[7]];
        reentrantActors.push(address(hostileVenue));
        for (uint256 i = 0; i < reentrantActors.length; ++i) {
            attacker.register(reentrantActors[i]);
        }
    }

    // ---------------------------------------------------------------- steps

    /// @notice Makes one step, determined by the arguments: a sweep in most cases.
    function act(uint256 seed, uint256 salt) external {
        ++steps;
        _seedRandom(seed, salt);
        _resumeOperations();
        uint256 kind = _pick(30);
        if (kind < 8) _attempt(_randomV5(0));
        else if (kind < 14) _attempt(_randomV4(0));
        else if (kind < 18) _attempt(_randomV5(_pickCorruption()));
        else if (kind < 20) _attempt(_randomV4(_pickCorruption()));
        else if (kind == 20) _cancel();
        else if (kind == 21) _replay();
        else if (kind == 22) _donate();
        else if (kind == 23) _rescue();
        else if (kind == 24) _administer(_pickBatch());
        else if (kind == 25) _callAdminFunctionsInvalidly(_pickBatch());
        else if (kind == 26) _changeBehavior();
        else if (kind == 27) _forgeCallback(_pickBatch());
        else if (kind == 28) _trade();
        else vm.warp(block.timestamp + 1 + _pick(1 days));
        _check(!attacker.succeeded(), 9);
    }

    /// @dev Soon resumes what was paused, removed or revoked, so that a campaign continues to sweep.
    function _resumeOperations() private {
        if (paused[address(v5)] && _pick(2) == 0) _unpause(v5);
        if (paused[address(v4)] && _pick(2) == 0) _unpause(v4);
        if (delisted[address(v5)] && _pick(4) == 0) _relistRouter(v5);
        if (delisted[address(v4)] && _pick(4) == 0) _relistRouter(v4);
        if (venueRemoved[address(v5)] && _pick(4) == 0) _relistVenue(v5);
        if (venueRemoved[address(v4)] && _pick(4) == 0) _relistVenue(v4);
        if (currentSigner == address(0) && _pick(2) == 0) _setFeeSigner(_pickFrom(signers), 0);
        _chooseBehaviorOfPools();
    }

    /// @dev Half of the time they are honest, or their only fault is that they don't pay.
    function _chooseBehaviorOfPools() private {
        uint256 behavior = _pick(2 * BEHAVIORS_OF_POOLS);
        if (behavior >= BEHAVIORS_OF_POOLS) behavior %= 2;
        hostileVenue.behave(HostileVenue.Behavior(behavior), _pick(64), _pickFrom(tokens));
    }

    function _unpause(ISweepBatch batch) private {
        batch.unpause();
        paused[address(batch)] = false;
    }

    /// @dev Sends the last successful call again, byte for byte, from the same sender.
    function _replay() private {
        if (lastBatch == address(0)) return;
        (bool succeeded, bytes memory response) = _sendAs(lastSender, lastBatch, lastCall);
        _check(!succeeded, 6);
        if (!succeeded) _recordRevert(response);
    }

    function _cancel() private {
        uint256 nonce = _randomNonce();
        bool usedBefore = v5.isNonceUsed(nonce);
        (bool succeeded, bytes memory response) = address(v5).call(abi.encodeCall(v5.cancelAuthorization, (nonce)));
        _check(succeeded == !usedBefore, 6);
        if (succeeded) ++cancelled[nonce];
        else _recordRevert(response);
        _checkNonce(nonce);
    }

    function _donate() private {
        address batch = address(_pickBatch());
        blocking.blockAccount(stranger);
        _fund(_pickFrom(tokens), batch, 1 + _pick(1e9));
        vm.deal(batch, batch.balance + _pick(10));
        vm.deal(stranger, 1);
        vm.prank(stranger);
        (bool succeeded, bytes memory response) = batch.call{value: 1}("");
        _check(!succeeded, 4);
        _recordRevert(response);
    }

    function _rescue() private {
        ISweepBatch batch = _pickBatch();
        address token = _pickFrom(tokens);
        if (token == address(taxed) || token == address(rebasing)) return; // these lose units on transfer
        uint256 idle = IERC20(token).balanceOf(address(batch));
        if (idle == 0) return;
        uint256 amount = 1 + _pick(idle);
        uint256 before = IERC20(token).balanceOf(address(this));
        batch.rescue(token, address(this), amount);
        _check(IERC20(token).balanceOf(address(this)) == before + amount, 12);
        _check(IERC20(token).balanceOf(address(batch)) == idle - amount, 12);
    }

    /// @dev Outside a sweep no callback is accepted, not even that of a pool.
    function _forgeCallback(ISweepBatch batch) private {
        bytes4[3] memory selectors = [_v3Venue().callback, _v2Venue().callback, bytes4(uint32(_pick(1 << 32)))];
        bytes memory call = abi.encodePacked(
            selectors[_pick(3)], abi.encode(int256(_pick(1e18)), -int256(_pick(1e18)), new bytes(_pick(512)))
        );
        address pool = pools[address(usdc)][address(weth)][_pick(3)].account;
        (bool succeeded, bytes memory response) = _sendAs(_pick(2) == 0 ? stranger : pool, address(batch), call);
        _check(!succeeded, 9);
        if (!succeeded) _recordRevert(response);
    }

    /// @dev Moves a price, and that of a shallow pool to where its liquidity ends.
    function _trade() private {
        address token = _pickFrom(tokens);
        if (token == address(weth)) return;
        (address tokenIn, address tokenOut) = _pick(2) == 0 ? (token, address(weth)) : (address(weth), token);
        uint256 amount = tokenIn == token ? oneToken[token] * (1 + _pick(500)) : (1 + _pick(250)) * 1e15;
        blocking.blockAccount(stranger);
        _fund(tokenIn, address(this), amount);
        IERC20(tokenIn).forceApprove(address(router), amount);
        ISwapRouter02.ExactInputSingleParams memory params = ISwapRouter02.ExactInputSingleParams(
            tokenIn, tokenOut, _pick(2) == 0 ? SHALLOW_FEE : POOL_FEE, address(this), amount, 0, 0
        );
        (bool traded,) = address(router).call{gas: 1_000_000}(abi.encodeCall(router.exactInputSingle, (params)));
        if (traded) ++happened["trades"];
    }

    function _changeBehavior() private {
        uint256 kind = _pick(5);
        if (kind == 0) _rebase();
        if (kind == 1) hostile.setBehavior(HostileRouter.Behavior(_pick(4)));
        if (kind == 2) ReentrantWallet(payable(accounts[FIRST_USER + 1 + _pick(2)])).setRejecting(_pick(4) == 0);
        if (kind == 3) blocking.blockAccount(_pick(2) == 0 ? stranger : _pickFrom(accounts));
        if (kind == 4) lying.lieOnce();
    }

    /// @dev Keeps a share worth one to two units, as with real rebasing tokens, so that rounding is at most one share.
    /// A pair that holds less than it remembers refuses every swap until it is synchronized.
    function _rebase() private {
        if (rebasing.supply() * 2 < rebasing.totalShares() * 3) rebasing.rebase();
        else rebasing.shrink();
        if (_pick(8) != 0) IUniswapV2Pair(pools[address(rebasing)][address(weth)][0].account).sync();
    }

    // ---------------------------------------------------------------- administration

    function _administer(ISweepBatch batch) private {
        uint256 kind = _pick(8);
        if (kind == 0 && !paused[address(batch)]) {
            batch.pause();
            paused[address(batch)] = true;
        }
        if (kind == 1) _setFeeSigner(_pickFrom(signers), uint32(_pick(2) * 1 hours));
        if (kind == 2) _revoke(_pick(4) == 0 ? previousSigner : currentSigner);
        if (kind == 3) {
            (feeBpsV4, feeRecipientV4) = (uint16(_pick(301)), _pickRecipient());
            v4.setFee(feeBpsV4, feeRecipientV4);
        }
        if (kind > 5 && !venueRemoved[address(batch)]) {
            batch.removeVenue(venueIds[address(batch)][PoolKind.V2]);
            venueRemoved[address(batch)] = true;
        } else if (kind > 3 && !delisted[address(batch)]) {
            batch.removeRouter(address(router), ISwapRouter02.exactInput.selector);
            delisted[address(batch)] = true;
        }
    }

    function _relistRouter(ISweepBatch batch) private {
        batch.allowRouter(address(router), ISwapRouter02.exactInput.selector, address(router));
        delisted[address(batch)] = false;
    }

    /// @dev Under a new id, because ids are never used again.
    function _relistVenue(ISweepBatch batch) private {
        batch.listVenue(++lastVenueId, _v2Venue());
        venueIds[address(batch)][PoolKind.V2] = lastVenueId;
        venueRemoved[address(batch)] = false;
    }

    function _setFeeSigner(address next, uint32 handoverSeconds) private {
        v5.setFeeSigner(next, handoverSeconds);
        (previousSigner, currentSigner) = (currentSigner, next);
        previousGoodUntil = block.timestamp + handoverSeconds;
    }

    function _revoke(address whom) private {
        if (whom == address(0)) return;
        v5.revokeFeeSigner(whom);
        if (previousSigner == whom) (previousSigner, previousGoodUntil) = (address(0), 0);
        if (currentSigner == whom) currentSigner = address(0);
    }

    /// @dev Invalid calls by admins, and valid ones by strangers. None may succeed.
    function _callAdminFunctionsInvalidly(ISweepBatch batch) private {
        bytes4 swap = ISwapRouter02.exactInputSingle.selector;
        bytes[] memory calls = new bytes[](15);
        calls[0] = abi.encodeCall(batch.allowRouter, (PERMIT2, swap, address(router)));
        calls[1] = abi.encodeCall(batch.allowRouter, (address(router), swap, address(weth)));
        calls[2] = abi.encodeCall(batch.allowRouter, (stranger, swap, address(router)));
        calls[3] = abi.encodeCall(batch.allowRouter, (address(router), IERC20.transferFrom.selector, address(router)));
        calls[4] = abi.encodeCall(batch.removeRouter, (address(router), IERC20.transferFrom.selector));
        calls[5] = abi.encodeCall(batch.rescue, (NATIVE, address(batch), 0));
        calls[6] = paused[address(batch)] ? abi.encodeCall(batch.pause, ()) : abi.encodeCall(batch.unpause, ());
        calls[7] = abi.encodeCall(batch.listVenue, (V3, _v3Venue()));
        calls[8] = abi.encodeCall(batch.listVenue, (uint16(_pick(V2 + 1)), _v2Venue()));
        calls[9] = abi.encodeCall(batch.listVenue, (type(uint16).max, _invalidVenue()));
        calls[10] = abi.encodeCall(batch.removeVenue, (type(uint16).max));
        calls[11] = abi.encodeCall(v5.setFeeSigner, (address(0), 0));
        calls[12] = abi.encodeCall(v5.setFeeSigner, (signer, 1 days + 1));
        calls[13] = abi.encodeCall(v5.revokeFeeSigner, (stranger));
        calls[14] = abi.encodeCall(v4.setFee, (301, protocol));
        uint256 which = _pick(calls.length);
        address target = which < 11 ? address(batch) : which < 14 ? address(v5) : address(v4);
        if (_pick(4) == 0) vm.prank(stranger);
        (bool succeeded, bytes memory response) = target.call(calls[which]);
        _check(!succeeded, 8);
        if (!succeeded) _recordRevert(response);
    }

    function _invalidVenue() private returns (IVenueList.Venue memory venue) {
        uint256 kind = _pick(5);
        venue = _v3Venue();
        if (kind == 0) venue.deployer = address(0);
        if (kind == 1) venue.kind = IVenueList.PoolKind.None;
        if (kind == 2) venue.feeBps = 30;
        if (kind == 3) venue.callback = 0;
        if (kind == 4) venue.initCodeHash = 0;
    }

    // ---------------------------------------------------------------- results

    /// @notice Returns what has happened so far, as one line of JSON.
    function tally() external view returns (string memory line) {
        line = string.concat('{"steps": ', vm.toString(steps));
        line = _with(line, "sweeps V5", sweeps[address(v5)]);
        line = _with(line, "sweeps V4", sweeps[address(v4)]);
        line = _with(line, "reverts", reverts);
        line = _with(line, "looks at the pools", watcher.observations());
        line = _with(line, "trades of a hostile pool", hostileVenue.trades());
        line = _with(line, "re-entry attempts", attacker.attempts());
        for (uint256 i = 0; i < reentrantActors.length; ++i) {
            string memory name = string.concat("re-entry attempts by a ", actorNames[i]);
            line = _with(line, name, attacker.attemptsOf(reentrantActors[i]));
        }
        string[] memory features = Reasons.features();
        for (uint256 i = 0; i < features.length; ++i) {
            line = _with(line, features[i], happened[features[i]]);
        }
        Reasons.Reason[] memory reasons = Reasons.all();
        for (uint256 i = 0; i < reasons.length; ++i) {
            line = _with(line, reasons[i].name, reached[reasons[i].selector]);
        }
        return string.concat(line, "}");
    }

    function _with(string memory line, string memory name, uint256 count) private pure returns (string memory) {
        return string.concat(line, ', "', name, '": ', vm.toString(count));
    }

    function sweepsOfV5() external view returns (uint256) {
        return sweeps[address(v5)];
    }

    function sweepsOfV4() external view returns (uint256) {
        return sweeps[address(v4)];
    }

    function attempts() external view returns (uint256) {
        return attacker.attempts();
    }

    /// @notice Whether both contracts swept every kind of token, every output was paid, and every actor tried to
    /// re-enter.
    function reachedEveryActor() external view returns (bool) {
        for (uint256 i = 0; i < tokens.length; ++i) {
            if (swept[address(v5)][tokens[i]] == 0 || swept[address(v4)][tokens[i]] == 0) return false;
        }
        for (uint256 i = 0; i < outputs.length; ++i) {
            if (paidOut[outputs[i]] == 0) return false;
        }
        for (uint256 i = 0; i < reentrantActors.length; ++i) {
            if (attacker.attemptsOf(reentrantActors[i]) == 0) return false;
        }
        return true;
    }
}
