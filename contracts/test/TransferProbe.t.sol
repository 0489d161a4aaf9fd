// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {BlocklistToken, PickyToken} from "./support/Hostile.sol";
import {World} from "./support/World.sol";

interface ITransferProbe {
    function probe(address token, uint256 maxAmount, address peer)
        external
        returns (uint256 sent, uint256 receivedByPeer, uint256 receivedBack, bool partsArrive);
}

/// @title TransferProbeTest
/// @notice The probe, placed as an `eth_call` places it, measures transfer fees.
contract TransferProbeTest is World {
    ITransferProbe private holder = ITransferProbe(makeAddr("pool"));
    address private peer = makeAddr("peer");

    function setUp() public override {
        super.setUp();
        bytes memory code = vm.getDeployedCode(_artifact("TransferProbe"));
        vm.etch(address(holder), code);
        vm.etch(peer, code);
    }

    function _assertProbe(IERC20 token, uint256 maxAmount, uint256[3] memory expected) private {
        (uint256 sent, uint256 receivedByPeer, uint256 receivedBack,) = holder.probe(address(token), maxAmount, peer);
        assertEq(sent, expected[0], "sent");
        assertEq(receivedByPeer, expected[1], "received by the peer");
        assertEq(receivedBack, expected[2], "received back");
    }

    function test_a_standard_token_arrives_in_full_both_ways() public {
        _fund(address(usdc), address(holder), 500);
        _assertProbe(usdc, 200, [uint256(200), 200, 200]);
        assertEq(usdc.balanceOf(address(holder)), 500);
    }

    function test_a_token_without_return_values_can_be_probed() public {
        _fund(address(usdt), address(holder), 500);
        _assertProbe(usdt, 200, [uint256(200), 200, 200]);
    }

    function test_a_transfer_fee_is_measured_both_ways() public {
        _fund(address(taxed), address(holder), 1e18);
        _assertProbe(taxed, 10_000, [uint256(10_000), 9_900, 9_801]);
    }

    function test_the_peers_earlier_balance_is_not_counted_as_received() public {
        _fund(address(taxed), address(holder), 1e18);
        _fund(address(taxed), peer, 5e18);
        _assertProbe(taxed, 10_000, [uint256(10_000), 9_900, 9_801]);
    }

    function test_at_most_the_balance_is_sent() public {
        _fund(address(dai), address(holder), 3);
        _assertProbe(dai, type(uint256).max, [uint256(3), 3, 3]);
        assertEq(dai.balanceOf(address(holder)), 3);
    }

    function test_an_empty_holder_reports_zeros() public {
        _assertProbe(dai, 100, [uint256(0), 0, 0]);
    }

    function test_the_parts_of_a_standard_token_arrive() public {
        _fund(address(dai), address(holder), 500);
        assertTrue(_partsArrive(dai, 500));
        assertEq(dai.balanceOf(address(holder)), 500);
    }

    function test_a_fee_of_only_some_amounts_shows_in_the_parts() public {
        uint256[4] memory amounts = [uint256(333), 10, 1_000, 1];
        for (uint256 i = 0; i < amounts.length; i++) {
            PickyToken picky = new PickyToken(amounts[i], false);
            picky.mint(address(holder), 1_000);
            assertEq(_partsArrive(picky, 1_000), i > 1, "333 and 10 are the parts");
        }
    }

    function test_a_part_that_is_refused_proves_nothing() public {
        PickyToken picky = new PickyToken(10, true);
        picky.mint(address(holder), 1_000);
        assertTrue(_partsArrive(picky, 1_000));
    }

    function test_parts_of_nothing_are_not_sent() public {
        PickyToken picky = new PickyToken(0, true);
        picky.mint(address(holder), 2);
        assertTrue(_partsArrive(picky, 2));
    }

    function _partsArrive(IERC20 token, uint256 maxAmount) private returns (bool partsArrive) {
        (,,, partsArrive) = holder.probe(address(token), maxAmount, peer);
    }

    function test_a_failed_transfer_reverts_with_the_tokens_error() public {
        BlocklistToken blocking = new BlocklistToken();
        blocking.mint(address(holder), 10);
        blocking.blockAccount(peer);
        vm.expectRevert(abi.encodeWithSelector(BlocklistToken.Blocked.selector, peer));
        holder.probe(address(blocking), 10, peer);
    }
}
