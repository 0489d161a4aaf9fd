// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {BlockingToken} from "./support/Hostile.sol";
import {World} from "./support/World.sol";

interface ITransferProbe {
    function probe(address token, uint256 maxAmount, address peer)
        external
        returns (uint256 sent, uint256 receivedByPeer, uint256 receivedBack);
}

/// @title TransferProbeTest
/// @notice The probe, placed as `eth_call` places it, tells taxed tokens from others.
contract TransferProbeTest is World {
    ITransferProbe private holder = ITransferProbe(makeAddr("pool"));
    address private peer = makeAddr("peer");

    function setUp() public override {
        super.setUp();
        bytes memory code = vm.getDeployedCode(_built("TransferProbe"));
        vm.etch(address(holder), code);
        vm.etch(peer, code);
    }

    function _assertProbe(IERC20 token, uint256 maxAmount, uint256[3] memory expected) private {
        (uint256 sent, uint256 receivedByPeer, uint256 receivedBack) = holder.probe(address(token), maxAmount, peer);
        assertEq(sent, expected[0], "sent");
        assertEq(receivedByPeer, expected[1], "received by the peer");
        assertEq(receivedBack, expected[2], "received back");
    }

    function test_an_honest_token_arrives_whole_both_ways() public {
        _fund(address(usdc), address(holder), 500);
        _assertProbe(usdc, 200, [uint256(200), 200, 200]);
        assertEq(usdc.balanceOf(address(holder)), 500);
    }

    function test_a_token_without_return_values_is_probed_alike() public {
        _fund(address(usdt), address(holder), 500);
        _assertProbe(usdt, 200, [uint256(200), 200, 200]);
    }

    function test_a_tax_shows_both_ways() public {
        _fund(address(taxed), address(holder), 1e18);
        _assertProbe(taxed, 10_000, [uint256(10_000), 9_900, 9_801]);
    }

    function test_what_the_peer_holds_already_did_not_arrive() public {
        _fund(address(taxed), address(holder), 1e18);
        _fund(address(taxed), peer, 5e18);
        _assertProbe(taxed, 10_000, [uint256(10_000), 9_900, 9_801]);
    }

    function test_no_more_is_sent_than_is_there() public {
        _fund(address(dai), address(holder), 3);
        _assertProbe(dai, type(uint256).max, [uint256(3), 3, 3]);
        assertEq(dai.balanceOf(address(holder)), 3);
    }

    function test_an_empty_holder_says_so() public {
        _assertProbe(dai, 100, [uint256(0), 0, 0]);
    }

    function test_a_refused_transfer_reverts_with_the_tokens_reason() public {
        BlockingToken blocking = new BlockingToken();
        blocking.mint(address(holder), 10);
        blocking.blockAccount(peer);
        vm.expectRevert(abi.encodeWithSelector(BlockingToken.Blocked.selector, peer));
        holder.probe(address(blocking), 10, peer);
    }
}
