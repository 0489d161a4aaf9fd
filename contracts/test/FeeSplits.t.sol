// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {OpenMintToken} from "./support/Hostile.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @notice An output token of which every sweep can return up to the maximum of uint256.
contract BurnableToken is OpenMintToken {
    constructor() ERC20("Burnable", "BURN") {}

    function burnAll(address from) external {
        _burn(from, balanceOf(from));
    }
}

/// @notice A listed router that pays exactly the requested minimum.
contract MinimumRouter {
    function exactInputSingle(ISwapRouter02.ExactInputSingleParams calldata swap) external payable returns (uint256) {
        OpenMintToken(swap.tokenOut).mint(swap.recipient, swap.amountOutMinimum);
        return swap.amountOutMinimum;
    }
}

/// @title FeeSplits
/// @notice The contract splits ten thousand outputs like an independent implementation: each is swept, and the amounts
/// received are compared. bin/make-fee-splits.mjs describes the file, which the Makefile generates.
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
        v5.allowRouter(address(router), ISwapRouter02.exactInputSingle.selector, address(router));
        output = new BurnableToken();
        _give(user, address(dai), COUNT);
    }

    function test_ten_thousand_splits_match_an_independent_implementation() public {
        bytes memory splits = vm.readFileBinary("../var/vectors/fee_splits.bin");
        bytes32 golden = vm.parseBytes32(vm.trim(vm.readFile("../tests/vectors/fee_splits.sha256")));
        assertEq(sha256(splits), golden, "the file differs from its checksum");
        assertEq(splits.length, COUNT * RECORD_BYTES);
        vm.pauseGasMetering(); // all of them exceed the gas limit of a test
        for (uint256 i = 0; i < COUNT; ++i) {
            this.sweepAndCompare(i, abi.decode(_record(splits, i), (FeeSplit)));
        }
    }

    /// @dev External, so that each sweep starts with fresh memory.
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
        assertEq(output.totalSupply(), 0, "output was sent elsewhere");
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
        ISweepBatch.Leg memory leg = ISweepBatch.Leg(address(dai), 1, _floor(split), 0);
        s = _sweep(_routerRoute(leg, ISweepBatch.RouterCall(0, address(router), data)), address(output));
        (s.authorization.totalFeeBps, s.authorization.partnerShareBps) = (split.totalFeeBps, split.partnerShareBps);
        (s.authorization.nonce, s.permitNonce) = (index, index);
        _sign(s);
    }

    /// @dev The highest floor that the output meets. A floor has 128 bits at most, and these outputs up to 256.
    function _floor(FeeSplit calldata split) private pure returns (uint256 floor) {
        floor = Math.mulDiv(split.grossOutput, 10_000 - split.totalFeeBps, 10_000);
        if (floor > type(uint128).max) floor = type(uint128).max;
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
