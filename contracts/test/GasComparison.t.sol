// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {console} from "forge-std/console.sol";
import {GasMeter} from "./support/GasMeter.sol";
import {IDomain} from "./support/SweepTest.sol";
import {IAllowanceTransfer, ISwapRouter02, IUniversalRouter} from "./support/Uniswap.sol";

/// @title GasComparison
/// @notice The cost of the same legs without our contracts: as bare swaps, and through the Universal Router in one
/// transaction. bin/bench-gas.mjs turns the figures into a table.
contract GasComparison is GasMeter {
    bytes private constant MEASURED = hex"0102030405060708090a14"; // numbers of legs
    bytes32 private constant PAIR_INIT_CODE_HASH = 0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f;
    bytes32 private constant POOL_INIT_CODE_HASH = 0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54;
    bytes1 private constant V3_SWAP_EXACT_IN = 0x00;
    bytes1 private constant PERMIT2_PERMIT_BATCH = 0x03;
    address private constant SENDER = address(1); // the router's placeholder for msg.sender
    bytes32 private constant PERMIT_DETAILS_TYPEHASH =
        keccak256("PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)");
    bytes32 private constant PERMIT_BATCH_TYPEHASH = keccak256(
        "PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)"
    );
    IUniversalRouter private universal;

    function setUp() public override {
        super.setUp();
        IUniversalRouter.Deployment memory deployment;
        (deployment.permit2, deployment.weth9) = (PERMIT2, address(weth));
        (deployment.v2Factory, deployment.pairInitCodeHash) = (router.factoryV2(), PAIR_INIT_CODE_HASH);
        (deployment.v3Factory, deployment.poolInitCodeHash) = (router.factory(), POOL_INIT_CODE_HASH);
        universal = IUniversalRouter(
            _deploy(
                "node_modules/@uniswap/universal-router/artifacts/contracts/UniversalRouter.sol/UniversalRouter.json",
                abi.encode(deployment)
            )
        );
    }

    /// forge-config: default.isolate = true
    function test_ten_legs_cost_a_fifth_less_than_ten_bare_swaps() public {
        assertLe(_v5V3Gas(10, false), _bareGas(10, false) * 80 / 100);
    }

    /// @dev A user who keeps some of each token gets no storage refund: neither for the bare swaps, where each
    /// transaction's refund would count in full, nor for the sweep, where refunds are capped anyway.
    /// forge-config: default.isolate = true
    function test_ten_legs_cost_a_sixth_less_than_ten_bare_swaps_if_users_keep_a_balance() public {
        assertLe(_v5V3Gas(10, true), _bareGas(10, true) * 5 / 6);
    }

    /// forge-config: default.isolate = true
    function test_measures_the_whole_table() public {
        for (uint256 i = 0; i < 2 * MEASURED.length; ++i) {
            (uint256 count, bool keeping) = (uint8(MEASURED[i / 2]), i % 2 == 1);
            _v5V3Gas(count, keeping);
            _v5V2Gas(count, keeping);
            _v5NewV2Gas(count, keeping);
            _v5RouterGas(count, keeping);
            _v4V3Gas(count, keeping);
            _bareGas(count, keeping);
            _universalGas(count, keeping);
            _v5UsdcGas(count, keeping);
            _bareTwoHopGas(count, keeping);
        }
    }

    /// @dev bin/bench-gas.mjs parses these lines.
    /// forge-config: default.isolate = true
    function test_measures_the_least_gas_limits() public {
        for (uint256 count = 10; count <= MOST_LEGS; count += 10) {
            (uint256 least, uint256 gasUsed) = _leastGasLimit(count);
            console.log("least gas limit:", count, least, gasUsed);
        }
    }

    /// @dev One transaction per leg, by a user who has approved the router for each token. The approvals are measured
    /// separately, for users who have not.
    function _bareGas(uint256 count, bool keeping) private returns (uint256 swaps) {
        uint256 approvals;
        (swaps, approvals) = _callRouter(count, keeping, _swapToWeth);
        _log("bare swaps", count, keeping, swaps);
        _log("bare swaps with approvals", count, keeping, swaps + approvals);
    }

    function _bareTwoHopGas(uint256 count, bool keeping) private {
        (uint256 swaps,) = _callRouter(count, keeping, _swapToUsdc);
        _log("bare two-hop swaps to USDC", count, keeping, swaps);
    }

    function _callRouter(uint256 count, bool keeping, function(address) swap)
        private
        returns (uint256 swaps, uint256 approvals)
    {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        for (uint256 i = 0; i < count; ++i) {
            _fund(address(tokens[i]), user, AMOUNT);
            vm.startPrank(user);
            tokens[i].approve(address(router), type(uint256).max);
            approvals += vm.lastCallGas().gasTotalUsed;
            swap(address(tokens[i]));
            swaps += vm.lastCallGas().gasTotalUsed;
            vm.stopPrank();
        }
        vm.revertToState(snapshot);
    }

    function _swapToWeth(address token) private {
        router.exactInputSingle(
            ISwapRouter02.ExactInputSingleParams(token, address(weth), POOL_FEE, user, AMOUNT, 1, 0)
        );
    }

    function _swapToUsdc(address token) private {
        bytes memory path = abi.encodePacked(token, POOL_FEE, weth, POOL_FEE, usdc);
        router.exactInput(ISwapRouter02.ExactInputParams(path, user, AMOUNT, 1));
    }

    /// @dev A permit for all tokens and a swap for each, by a user who has approved Permit2, as a frontend does it: for
    /// the first sweep of these tokens, and for a second one, when their Permit2 slots are nonzero. No fee is taken.
    function _universalGas(uint256 count, bool keeping) private {
        uint256 snapshot = vm.snapshotState();
        if (keeping) _giveOneUnitOfEach();
        _log("Universal Router", count, keeping, _executeGas(count, 0));
        vm.warp(block.timestamp + 12);
        _log("Universal Router again", count, keeping, _executeGas(count, 1));
        vm.revertToState(snapshot);
    }

    function _executeGas(uint256 count, uint48 permitNonce) private returns (uint256 gasUsed) {
        bytes memory commands = new bytes(count + 1);
        bytes[] memory inputs = new bytes[](count + 1);
        IAllowanceTransfer.PermitBatch memory permit;
        (permit.spender, permit.sigDeadline) = (address(universal), block.timestamp + 900);
        permit.details = new IAllowanceTransfer.PermitDetails[](count);
        for (uint256 i = 0; i < count; ++i) {
            _give(user, address(tokens[i]), AMOUNT);
            permit.details[i] = IAllowanceTransfer.PermitDetails(
                address(tokens[i]), uint160(AMOUNT), uint48(block.timestamp + 900), permitNonce
            );
            commands[i + 1] = V3_SWAP_EXACT_IN;
            inputs[i + 1] = abi.encode(SENDER, AMOUNT, 1, abi.encodePacked(tokens[i], POOL_FEE, weth), true);
        }
        commands[0] = PERMIT2_PERMIT_BATCH;
        inputs[0] = abi.encode(permit, _signature(userKey, _permitBatchDigest(permit)));

        uint256 before = weth.balanceOf(user);
        vm.prank(user);
        universal.execute(commands, inputs, block.timestamp);
        gasUsed = vm.lastCallGas().gasTotalUsed;
        assertGt(weth.balanceOf(user), before);
    }

    function _permitBatchDigest(IAllowanceTransfer.PermitBatch memory permit) private view returns (bytes32) {
        bytes32[] memory details = new bytes32[](permit.details.length);
        for (uint256 i = 0; i < details.length; ++i) {
            details[i] = keccak256(abi.encode(PERMIT_DETAILS_TYPEHASH, permit.details[i]));
        }
        bytes32 structHash = keccak256(
            abi.encode(PERMIT_BATCH_TYPEHASH, keccak256(abi.encodePacked(details)), permit.spender, permit.sigDeadline)
        );
        return keccak256(abi.encodePacked(hex"1901", IDomain(PERMIT2).DOMAIN_SEPARATOR(), structHash));
    }
}
