// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {GasMeter} from "./support/GasMeter.sol";

/// @title Gas
/// @notice The snapshot: what a sweep may cost at most, by the number of its legs. A rise fails here.
contract Gas is GasMeter {
    uint256[6] private counts = [1, 2, 3, 5, 10, 20];

    /// forge-config: default.isolate = true
    function test_a_v5_sweep_costs_no_more_than_it_did() public {
        _expectAtMost(_v5Gas, PREFUNDED, [uint256(191_300), 276_600, 364_800, 540_800, 981_400, 1_864_000]);
        _expectAtMost(_v5Gas, APPROVED, [uint256(213_100), 325_300, 437_800, 662_400, 1_224_600, 2_350_400]);
    }

    /// forge-config: default.isolate = true
    function test_a_v4_sweep_costs_no_more_than_it_did() public {
        _expectAtMost(_v4Gas, PREFUNDED, [uint256(187_300), 273_200, 361_400, 537_200, 977_200, 1_858_800]);
        _expectAtMost(_v4Gas, APPROVED, [uint256(209_900), 321_900, 434_400, 658_900, 1_220_500, 2_345_400]);
    }

    /// @dev Marks are the last bytes of addresses: of thirteen sweeps of twenty legs one has a token with the router's. Here its
    /// pool's first swap is part of it.
    /// forge-config: default.isolate = true
    function test_a_token_that_shares_the_routers_mark_costs_little_more() public {
        address sharing = address(uint160(address(router)) ^ (1 << 100));
        deployCodeTo(_built("MintableToken"), abi.encode("SHARING", "SHARING", uint8(18)), sharing);
        _addPools(IERC20(sharing), POOL_TOKENS * 1e18);
        tokens[19] = IERC20(sharing);
        assertLe(_v5Gas(20, PREFUNDED, false), 1_881_300);
    }

    /// @dev The bounds are what it was, with a little for the addresses, by which pools sort their tokens.
    function _expectAtMost(
        function(uint256, uint8, bool) returns (uint256) measure,
        uint8 funding,
        uint256[6] memory snapshot
    ) private {
        for (uint256 i = 0; i < counts.length; ++i) {
            assertLe(measure(counts[i], funding, false), snapshot[i]);
        }
    }
}
