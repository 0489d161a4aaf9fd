// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GasMeter} from "./support/GasMeter.sol";
import {IDomain} from "./support/SweepTest.sol";
import {IAllowanceTransfer, IUniversalRouter} from "./support/Uniswap.sol";

/// @title GasComparison
/// @notice What the same legs cost without us: bare swaps, and the Universal Router in one transaction. What is measured here,
/// bin/bench-gas.mjs makes a table of.
contract GasComparison is GasMeter {
    bytes private constant MEASURED = hex"0102030405060708090a14"; // legs: each to ten, for the break-even, and twenty
    bytes32 private constant PAIR_INIT_CODE_HASH = 0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f;
    bytes32 private constant POOL_INIT_CODE_HASH = 0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54;
    bytes1 private constant V3_SWAP_EXACT_IN = 0x00;
    bytes1 private constant PERMIT2_PERMIT_BATCH = 0x03;
    address private constant SENDER = address(1); // as the router calls whoever calls it
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
    function test_ten_legs_cost_less_than_ten_bare_swaps() public {
        (uint256 swaps,) = _bareGas(10, false);
        assertLt(_v5Gas(10, PREFUNDED, false), swaps);
    }

    /// @dev A user who keeps something of each token gets back no storage, neither in the bare swaps, where the refund of each
    /// transaction would count in full, nor in the sweep, where refunds are capped anyway.
    /// forge-config: default.isolate = true
    function test_ten_legs_cost_a_twentieth_less_than_ten_bare_swaps_if_something_is_kept() public {
        (uint256 swaps,) = _bareGas(10, true);
        assertLe(_v5Gas(10, PREFUNDED, true), swaps * 95 / 100);
    }

    /// forge-config: default.isolate = true
    function test_the_whole_table_can_be_measured() public {
        for (uint256 i = 0; i < 2 * MEASURED.length; ++i) {
            (uint256 count, bool keeping) = (uint8(MEASURED[i / 2]), i % 2 == 1);
            _v5Gas(count, PREFUNDED, keeping);
            _v5Gas(count, APPROVED, keeping);
            _v4Gas(count, PREFUNDED, keeping);
            _v4Gas(count, APPROVED, keeping);
            _bareGas(count, keeping);
            _universalGas(count, keeping);
        }
    }

    /// @dev A permit for all tokens and a swap for each, by a user who approved Permit2 before: as a page does it for a user who
    /// sweeps these tokens for the first time, and again, when Permit2's words of them are not zero any more. No fee is taken.
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
