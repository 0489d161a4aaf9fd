// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {FreeToken} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @notice An output of which one sweep can bring all units that a number can count, and the next one too.
contract BurnableToken is FreeToken {
    constructor() ERC20("Burnable", "BURN") {}

    function burnAll(address from) external {
        _burn(from, balanceOf(from));
    }
}

/// @notice A listed router that pays exactly the minimum it is asked for.
contract MinimumRouter {
    function exactInputSingle(ISwapRouter02.ExactInputSingleParams calldata swap) external payable returns (uint256) {
        FreeToken(swap.tokenOut).mint(swap.recipient, swap.amountOutMinimum);
        return swap.amountOutMinimum;
    }
}

/// @title FeeSplits
/// @notice The contract splits ten thousand outputs as an independent implementation did: each is swept, and what arrived is
/// compared. The file is described in bin/make-fee-splits.mjs; the Makefile makes it.
contract FeeSplits is SweepTest {
    struct FeeSplit {
        uint256 grossOutput;
        uint16 totalFeeBps;
        uint16 partnerShareBps;
        uint256 totalFee;
        uint256 partnerFee;
        uint256 protocolFee;
        uint256 userAmount;
    }

    uint256 private constant COUNT = 10_000;
    uint256 private constant RECORD_BYTES = 7 * 32;
    BurnableToken private output;

    function setUp() public override {
        super.setUp();
        router = ISwapRouter02(address(new MinimumRouter()));
        v5.allowRouter(address(router), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(router));
        output = new BurnableToken();
        _give(user, address(dai), COUNT);
    }

    function test_ten_thousand_outputs_are_split_as_by_an_independent_implementation() public {
        bytes memory splits = vm.readFileBinary("../var/vectors/fee_splits.bin");
        bytes32 golden = vm.parseBytes32(vm.trim(vm.readFile("../tests/vectors/fee_splits.sha256")));
        assertEq(sha256(splits), golden, "not the golden file");
        assertEq(splits.length, COUNT * RECORD_BYTES);
        vm.pauseGasMetering(); // together they take more than a test's gas
        for (uint256 i = 0; i < COUNT; ++i) {
            this.sweepAndCompare(i, abi.decode(_record(splits, i), (FeeSplit)));
        }
    }

    /// @dev External, so that each sweep begins with a memory of its own.
    function sweepAndCompare(uint256 index, FeeSplit calldata split) external {
        Sweep memory s = _sweepOf(index, split);
        vm.expectEmit(address(v5));
        emit IV5.SweepExecutedV5(
            index,
            user,
            PARTNER_ID,
            partner,
            protocol,
            address(output),
            1,
            split.grossOutput,
            split.totalFee,
            split.partnerFee,
            split.protocolFee,
            split.userAmount
        );
        _send(s);
        _expectAndBurn(user, split.userAmount);
        _expectAndBurn(partner, split.partnerFee);
        _expectAndBurn(protocol, split.protocolFee);
        assertEq(output.totalSupply(), 0, "something went elsewhere");
    }

    function _sweepOf(uint256 index, FeeSplit calldata split) private view returns (Sweep memory s) {
        bytes memory data = abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams({
                    tokenIn: address(dai),
                    tokenOut: address(output),
                    fee: POOL_FEE,
                    recipient: address(v5),
                    amountIn: 0,
                    amountOutMinimum: split.grossOutput,
                    sqrtPriceLimitX96: 0
                }))
        );
        s = _sweep(_legs(ISweepBatch.Leg(address(dai), 1, address(router), PREFUNDED, data)), address(output));
        (s.order.minUserOutput, s.order.totalFeeBps) = (split.userAmount, split.totalFeeBps);
        (s.authorization.totalFeeBps, s.authorization.partnerShareBps) = (split.totalFeeBps, split.partnerShareBps);
        (s.order.authorizationNonce, s.authorization.nonce, s.permitNonce) = (index, index, index);
        _sign(s);
    }

    function _expectAndBurn(address recipient, uint256 amount) private {
        assertEq(output.balanceOf(recipient), amount);
        output.burnAll(recipient);
    }

    function _record(bytes memory splits, uint256 index) private pure returns (bytes memory record) {
        record = new bytes(RECORD_BYTES);
        assembly ("memory-safe") {
            mcopy(add(record, 0x20), add(add(splits, 0x20), mul(index, RECORD_BYTES)), RECORD_BYTES)
        }
    }
}
