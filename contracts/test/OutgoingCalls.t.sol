// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IPermit2} from "../src/interfaces/IPermit2.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {SweepTest} from "./support/SweepTest.sol";

/// @notice Reverts with the data that it is called with.
contract Echo {
    fallback() external {
        bytes memory data = msg.data;
        assembly ("memory-safe") {
            revert(add(data, 0x20), mload(data))
        }
    }
}

/// @title OutgoingCalls
/// @notice The calls that are assembled by hand are, byte for byte, those that the compiler would encode.
contract OutgoingCalls is SweepTest {
    function test_permit2_is_called_with_what_the_compiler_would_encode() public {
        Sweep memory s = _routerAndDroppedLegs();
        bytes[4] memory signatures = [bytes(""), hex"01", new bytes(64), s.permitSignature];
        vm.etch(PERMIT2, type(Echo).runtimeCode);
        for (uint256 i = 0; i < signatures.length; ++i) {
            s.permitSignature = signatures[i];
            _expectRevert(s, _pullFailed(_permit2Call(s)));
        }
    }

    function _routerAndDroppedLegs() private returns (Sweep memory s) {
        ISweepBatch.Route memory route = _route(_legs(_leg(dai, 1_000e18, DROPPED), _leg(usdc, 1_000e6, 0)));
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = _v3Call(1, usdc, address(weth), 1_000e6, address(v5));
        (route.legs[0].floor, route.maxSkipped) = (2, 1);
        return _sweep(route, address(weth));
    }

    function _permit2Call(Sweep memory s) private view returns (bytes memory) {
        ISweepBatch.Leg[] memory legs = s.route.legs;
        IPermit2.TokenPermissions[] memory permitted = new IPermit2.TokenPermissions[](legs.length);
        IPermit2.SignatureTransferDetails[] memory transfers = new IPermit2.SignatureTransferDetails[](legs.length);
        for (uint256 i = 0; i < legs.length; ++i) {
            permitted[i] = IPermit2.TokenPermissions(legs[i].token, legs[i].amount);
        }
        transfers[0] = IPermit2.SignatureTransferDetails(address(v5), 0);
        transfers[1] = IPermit2.SignatureTransferDetails(address(v5), legs[1].amount);
        return abi.encodeCall(
            IPermit2.permitWitnessTransferFrom,
            (
                IPermit2.PermitBatchTransferFrom(permitted, s.permitNonce, s.permitDeadline),
                transfers,
                user,
                _orderHash(s),
                string.concat("SweepOrder witness)", ORDER_TYPE, "TokenPermissions(address token,uint256 amount)"),
                s.permitSignature
            )
        );
    }

    /// @dev The least and the greatest price that a V3 pool accepts as limit, so that a fill is never cut short.
    function test_a_v3_pool_is_given_the_whole_range_of_prices() public {
        uint160 lowest = 4295128739 + 1; // TickMath.MIN_SQRT_RATIO, exclusive
        uint160 highest = 1461446703485210103287273052203988822378723970342 - 1; // TickMath.MAX_SQRT_RATIO, exclusive
        Sweep memory s = _usdcSweep();
        bool zeroForOne = address(usdc) < address(weth);
        _expectLimit(s, zeroForOne, zeroForOne ? lowest : highest);
        s = _sweep(_route(_legs(_v3Leg(weth, 1e18))), address(usdc));
        (s.authorization.nonce, s.permitNonce) = (8, 12);
        _sign(s);
        _expectLimit(s, !zeroForOne, zeroForOne ? highest : lowest);
    }

    function test_a_v3_pool_is_given_the_limit_of_its_leg() public {
        bool zeroForOne = address(usdc) < address(weth);
        uint256 shift = zeroForOne ? 33 : 137;
        uint256[3] memory numbers = [uint256((1 << 22) - 1), 1 << 21, (1 << 21) | 1];
        for (uint256 i = 0; i < numbers.length; ++i) {
            Sweep memory s = _usdcSweep();
            s.route.legs[0].hop |= _priceLimit(numbers[i], shift);
            (s.authorization.nonce, s.permitNonce) = (i, i);
            _sign(s);
            _expectLimit(s, zeroForOne, uint160(numbers[i] << shift));
        }
    }

    function _expectLimit(Sweep memory s, bool zeroForOne, uint160 limit) private {
        bytes4 selector = bytes4(keccak256("swap(address,bool,int256,uint160,bytes)"));
        vm.expectCall(
            _pool(V3, usdc),
            abi.encodeWithSelector(selector, address(v5), zeroForOne, s.route.legs[0].amount, uint256(limit))
        );
        _send(s);
    }
}
