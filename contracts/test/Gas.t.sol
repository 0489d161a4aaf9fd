// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {GasMeter} from "./support/GasMeter.sol";

/// @title Gas
/// @notice The gas snapshot: an upper bound for a sweep by its number of legs. An increase fails here.
contract Gas is GasMeter {
    uint256[7] private counts = [1, 2, 3, 5, 10, 20, 30];

    /// forge-config: default.isolate = true
    function test_a_v5_sweep_stays_within_its_gas_snapshot() public {
        _expectAtMost(_v5V3Gas, [uint256(174_300), 244_400, 315_200, 456_500, 811_500, 1_530_600, 2_261_100]);
        _expectAtMost(_v5V2Gas, [uint256(166_700), 229_900, 293_200, 419_900, 738_900, 1_385_500, 2_043_400]);
        _expectAtMost(_v5UsdcGas, [uint256(243_000), 313_300, 383_300, 526_000, 882_000, 1_603_000, 2_335_600]);
        _expectAtMost(_v5RouterGas, [uint256(215_600), 332_100, 449_700, 687_300, 1_295_900, 2_577_200, 3_943_600]);
    }

    /// forge-config: default.isolate = true
    function test_a_v4_sweep_stays_within_its_gas_snapshot() public {
        _expectAtMost(_v4V3Gas, [uint256(172_400), 242_400, 313_000, 454_000, 808_200, 1_525_700, 2_254_600]);
    }

    /// @dev The filter bit is given by an address's last byte: about every second sweep of twenty legs has two tokens
    /// that share one. The figure includes the first swap in the token's pool.
    /// forge-config: default.isolate = true
    function test_a_token_that_shares_anothers_filter_bit_costs_little_more() public {
        address sharing = address(uint160(address(tokens[0])) ^ (1 << 100));
        deployCodeTo(_artifact("MintableToken"), abi.encode("SHARING", "SHARING", uint8(18)), sharing);
        _addPools(IERC20(sharing), POOL_TOKENS * 1e18);
        tokens[19] = IERC20(sharing);
        assertLe(_v5V3Gas(20, false), 1_549_100);
    }

    /// @dev 30 legs, the most that a sweep may have, leave room in a transaction.
    /// forge-config: default.isolate = true
    function test_thirty_nested_legs_need_a_quarter_of_what_a_transaction_may_use() public {
        (uint256 least,) = _leastGasLimit(MOST_LEGS);
        assertLe(least, TRANSACTION_GAS_CAP / 4);
    }

    /// @dev Nothing is nested in an approval, and it refunds nothing, so it needs what it uses.
    /// forge-config: default.isolate = true
    function test_the_least_gas_limit_of_an_approval_is_the_gas_it_uses() public {
        bytes memory approval = abi.encodeCall(IERC20.approve, (PERMIT2, 1));
        (uint256 least, uint256 gasUsed) = _leastGasLimitOf(address(tokens[0]), approval, 1);
        assertEq(least, gasUsed);
    }

    /// @dev The bounds are the measured figures plus a little for the addresses, which determine the order of tokens in
    /// pools.
    function _expectAtMost(function(uint256, bool) returns (uint256) measure, uint256[7] memory snapshot) private {
        for (uint256 i = 0; i < counts.length; ++i) {
            assertLe(measure(counts[i], false), snapshot[i]);
        }
    }
}
