// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IServiceBatchV4 as IV4} from "../../src/interfaces/IServiceBatchV4.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {SweepTest} from "./SweepTest.sol";

/// @title SweepV4Test
/// @notice Adds the fallback contract, and the parts of a frontend and a user in a sweep through it.
abstract contract SweepV4Test is SweepTest {
    /// @dev The arguments of one transaction, and its sender.
    struct SweepV4 {
        address sender;
        ISweepBatch.Route route;
        IV4.SweepOrderV4 order;
        uint256 permitNonce;
        uint256 permitDeadline;
        bytes permitSignature;
    }

    string internal constant ORDER_TYPE_V4 =
        "SweepOrderV4(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 feeBps,bytes32 sweepRef)";
    bytes32 internal constant REF = keccak256("sweep");
    IV4 internal v4;

    function setUp() public virtual override {
        super.setUp();
        v4 = IV4(
            deployCode(
                _artifact("ServiceBatchV4"), abi.encode(address(manager), PERMIT2, address(weth), uint16(75), protocol)
            )
        );
        _list(v4);
    }

    function _usdcSweepV4() internal returns (SweepV4 memory) {
        return _sweepV4(_route(_legs(_v3Leg(usdc, 1_000e6))), address(weth));
    }

    function _sweepV4(ISweepBatch.Route memory route, address outputToken) internal view returns (SweepV4 memory s) {
        s.sender = user;
        s.route = route;
        s.order = IV4.SweepOrderV4(outputToken, 75, REF);
        (s.permitNonce, s.permitDeadline) = (11, block.timestamp + 900);
        _signV4(s);
    }

    function _signV4(SweepV4 memory s) internal view {
        s.permitSignature = _signature(userKey, _permitDigestV4(s));
    }

    function _permitDigestV4(SweepV4 memory s) internal view returns (bytes32) {
        bytes32 orderHash = keccak256(
            abi.encode(
                keccak256(bytes(ORDER_TYPE_V4)),
                s.order.outputToken,
                _floorsHash(s.route.legs),
                s.route.maxSkipped,
                s.order.feeBps,
                s.order.sweepRef
            )
        );
        Permit memory permit = Permit(address(v4), s.permitNonce, s.permitDeadline);
        return _permitDigest(s.route.legs, permit, "SweepOrderV4 witness)", ORDER_TYPE_V4, orderHash);
    }

    function _sendV4(SweepV4 memory s) internal {
        vm.prank(s.sender);
        v4.sweep(s.route, s.order, s.permitNonce, s.permitDeadline, s.permitSignature);
    }

    function _dataOfV4(SweepV4 memory s) internal view returns (bytes memory) {
        return abi.encodeCall(v4.sweep, (s.route, s.order, s.permitNonce, s.permitDeadline, s.permitSignature));
    }

    function _expectRevertV4(SweepV4 memory s, bytes memory reason) internal {
        vm.expectRevert(reason);
        _sendV4(s);
    }
}
