// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Execution} from "@openzeppelin/contracts/interfaces/draft-IERC7579.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {BatchAccount} from "../src/simulation/BatchAccount.sol";
import {GasMeter} from "./support/GasMeter.sol";
import {IDomain} from "./support/SweepTest.sol";

/// @title FirstTimers
/// @notice What users pay who have approved none of their tokens, all transactions together: an approval of Permit2 for
/// each and a sweep; one sweep with the tokens' own permits; or one call bundle of an account that has delegated to code
/// (EIP-7702), with exact approvals and a sweep. bin/bench-gas.mjs adds the figures to the table.
contract FirstTimers is GasMeter {
    bytes private constant MEASURED = hex"010203050a14"; // numbers of legs
    bytes32 private constant PERMIT_TYPEHASH =
        keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
    bytes32 private constant BATCH_MODE = bytes32(uint256(1) << 248); // ERC-7821: one batch, nothing else
    address private batchAccount;

    function setUp() public override {
        super.setUp();
        batchAccount = deployCode(_artifact("BatchAccount"));
    }

    /// forge-config: default.isolate = true
    function test_measures_first_timers() public {
        for (uint256 i = 0; i < 2 * MEASURED.length; ++i) {
            (uint256 count, bool keeping) = (uint8(MEASURED[i / 2]), i % 2 == 1);
            _measure("first time: approvals, then sweep", _approveThenSweep, count, keeping);
            _measure("first time: exact permits", _sweepWithExactPermits, count, keeping);
            _measure("first time: unlimited permits", _sweepWithUnlimitedPermits, count, keeping);
            _measure("first time: call bundle", _bundle, count, keeping);
        }
    }

    function _measure(string memory way, function(Sweep memory) returns (uint256) gasOf, uint256 count, bool keeping)
        private
    {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        Sweep memory s = _nextSweep(_v3Route(count), address(weth));
        _unapprove(s.route.legs);
        _log(way, count, keeping, gasOf(s));
        for (uint256 i = 0; i < count; ++i) {
            assertEq(tokens[i].balanceOf(user), keeping ? 1 : 0);
        }
        vm.revertToState(snapshot);
    }

    function _tokenName() internal pure override returns (string memory) {
        return "PermitToken";
    }

    /// @dev Revokes what building the legs approved.
    function _unapprove(ISweepBatch.Leg[] memory legs) private {
        vm.startPrank(user);
        for (uint256 i = 0; i < legs.length; ++i) {
            IERC20(legs[i].token).approve(PERMIT2, 0);
        }
        vm.stopPrank();
    }

    function _approveThenSweep(Sweep memory s) private returns (uint256 gasUsed) {
        for (uint256 i = 0; i < s.route.legs.length; ++i) {
            vm.prank(user);
            IERC20(s.route.legs[i].token).approve(PERMIT2, type(uint256).max);
            gasUsed += vm.lastCallGas().gasTotalUsed;
        }
        _send(s);
        gasUsed += vm.lastCallGas().gasTotalUsed;
    }

    function _sweepWithExactPermits(Sweep memory s) private returns (uint256) {
        return _sweepWithPermits(s, AMOUNT);
    }

    function _sweepWithUnlimitedPermits(Sweep memory s) private returns (uint256) {
        return _sweepWithPermits(s, type(uint256).max);
    }

    function _sweepWithPermits(Sweep memory s, uint256 value) private returns (uint256) {
        ISweepBatch.TokenPermit[] memory permits = new ISweepBatch.TokenPermit[](s.route.legs.length);
        for (uint256 i = 0; i < permits.length; ++i) {
            permits[i] = _permit(i, value);
        }
        vm.prank(user);
        v5.sweepWithPermits(
            s.route,
            s.authorization,
            s.authorizationSignature,
            permits,
            s.permitNonce,
            s.permitDeadline,
            s.permitSignature
        );
        return vm.lastCallGas().gasTotalUsed;
    }

    function _permit(uint256 leg, uint256 value) private view returns (ISweepBatch.TokenPermit memory permit) {
        permit.leg = leg;
        (permit.valueOrNonce, permit.deadline) = (value, block.timestamp + 900);
        address token = address(tokens[leg]);
        uint256 nonce = IERC20Permit(token).nonces(user);
        bytes32 structHash = keccak256(abi.encode(PERMIT_TYPEHASH, user, PERMIT2, value, nonce, permit.deadline));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", IDomain(token).DOMAIN_SEPARATOR(), structHash));
        (permit.v, permit.r, permit.s) = vm.sign(userKey, digest);
    }

    function _bundle(Sweep memory s) private returns (uint256) {
        vm.etch(user, abi.encodePacked(hex"ef0100", batchAccount));
        uint256 count = s.route.legs.length;
        Execution[] memory calls = new Execution[](count + 1);
        for (uint256 i = 0; i < count; ++i) {
            ISweepBatch.Leg memory leg = s.route.legs[i];
            calls[i] = Execution(leg.token, 0, abi.encodeCall(IERC20.approve, (address(v5), leg.amount)));
        }
        bytes memory sweep = abi.encodeCall(v5.sweepAsCaller, (s.route, s.authorization, s.authorizationSignature));
        calls[count] = Execution(address(v5), 0, sweep);
        vm.prank(user);
        BatchAccount(payable(user)).execute(BATCH_MODE, abi.encode(calls));
        return vm.lastCallGas().gasTotalUsed;
    }
}
