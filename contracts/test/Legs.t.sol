// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IRouterAllowList} from "../src/interfaces/IRouterAllowList.sol";
import {ISweepBatch} from "../src/interfaces/ISweepBatch.sol";
import {SweepTest} from "./support/SweepTest.sol";
import {ISwapRouter02} from "./support/Uniswap.sol";

/// @title Legs
/// @notice Which legs run at all: their number, their tokens, their funding and what they call; too many, doubled or cut off they are
/// in BadInput.t.sol.
contract Legs is SweepTest {
    function test_thirty_legs_run() public {
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](30);
        for (uint256 i = 0; i < 30; ++i) {
            legs[i] = _v3Leg(_listToken("MintableToken", vm.toString(i), 18), 1_000e18, APPROVED);
        }
        _send(_sweep(legs, address(weth)));
        assertTrue(v5.isNonceUsed(7));
    }

    function test_a_leg_takes_something() public {
        Sweep memory s = _sweep(_legs(_v3Leg(usdc, 1e6, APPROVED), _v3Leg(dai, 0, PREFUNDED)), address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.ZeroLegAmount.selector, 1));
    }

    function test_the_wrapped_coin_is_no_routed_input_of_the_native_coin() public {
        ISweepBatch.Leg memory leg = _v3LegTo(IERC20(address(weth)), address(usdc), 1e18, APPROVED, address(v5));
        Sweep memory s = _sweep(_legs(leg), NATIVE);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.TokenIsOutput.selector, address(weth)));
    }

    function test_a_funding_is_one_of_three() public {
        Sweep memory s = _usdcSweep(APPROVED);
        s.legs[0].funding = 3;
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.UnknownFunding.selector, 0, 3));
    }

    function test_only_the_wrapped_coin_on_its_way_to_the_native_coin_needs_no_router() public {
        _expectUnroutedInvalid(_sweep(_legs(_wethLeg(1e18)), address(dai)));

        Sweep memory s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.legs[0].token = address(usdc);
        _expectUnroutedInvalid(s);

        s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.legs[0].router = address(router);
        _expectUnroutedInvalid(s);

        s = _sweep(_legs(_wethLeg(1e18)), NATIVE);
        s.legs[0].data = hex"00";
        _expectUnroutedInvalid(s);
    }

    function _expectUnroutedInvalid(Sweep memory s) private {
        _sign(s);
        ISweepBatch.Leg memory leg = s.legs[0];
        _expectRevert(
            s,
            abi.encodeWithSelector(ISweepBatch.UnroutedLegInvalid.selector, 0, leg.token, leg.router, leg.data.length)
        );
    }

    function test_only_listed_functions_of_a_router_are_called() public {
        Sweep memory s = _usdcSweep(APPROVED);
        bytes4 multicall = bytes4(keccak256("multicall(bytes[])"));
        s.legs[0].data = abi.encodeWithSelector(multicall, new bytes[](0));
        _sign(s);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterNotAllowed.selector, 0, address(router), multicall));
    }

    function test_only_listed_routers_are_called() public {
        Sweep memory s = _usdcSweep(APPROVED);
        address stranger = makeAddr("router");
        s.legs[0].router = stranger;
        _sign(s);
        bytes4 selector = ISwapRouter02.exactInputSingle.selector;
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterNotAllowed.selector, 0, stranger, selector));
    }

    function test_a_router_is_funded_only_as_listed() public {
        bytes4 selector = ISwapRouter02.exactInputSingle.selector;
        v5.allowRouter(address(router), selector, 1, address(router));
        Sweep memory s = _usdcSweep(PREFUNDED);
        _expectRevert(
            s, abi.encodeWithSelector(ISweepBatch.FundingNotAllowed.selector, 0, address(router), selector, PREFUNDED)
        );

        v5.allowRouter(address(router), selector, 2, address(0));
        s = _usdcSweep(APPROVED);
        _expectRevert(
            s, abi.encodeWithSelector(ISweepBatch.FundingNotAllowed.selector, 0, address(router), selector, APPROVED)
        );
    }

    /// @dev A token that is also a listed router could move what is here while it is swapped.
    function test_a_router_is_no_token_of_the_sweep() public {
        v5.allowRouter(address(dai), ISwapRouter02.exactInput.selector, BOTH_MODES, address(dai));
        bytes memory data = abi.encodePacked(ISwapRouter02.exactInput.selector);

        ISweepBatch.Leg memory leg = _leg(usdc, 1e6, APPROVED, data);
        leg.router = address(dai);
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.RouterIsToken.selector, 0, address(dai));
        _expectRevert(_sweep(_legs(leg, _v3Leg(dai, 1e18, APPROVED)), address(weth)), expected);
        _expectRevert(_sweep(_legs(leg), address(dai)), expected);

        leg = _leg(dai, 1e18, APPROVED, data);
        leg.router = address(dai);
        _expectRevert(_sweep(_legs(leg), address(weth)), expected);

        Sweep memory s = _sweep(_legs(_v3Leg(usdc, 1e6, PREFUNDED), leg), address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterIsToken.selector, 1, address(dai)));
    }

    function test_a_router_that_shares_the_mark_of_the_output_is_no_token_either() public {
        address token = _tokenAt(address(uint160(0x111100) | uint8(uint160(address(weth)))));
        v5.allowRouter(token, ISwapRouter02.exactInput.selector, PREFUNDED + 1, address(0));
        ISweepBatch.Leg memory leg = _leg(usdc, 1e6, PREFUNDED, abi.encodePacked(ISwapRouter02.exactInput.selector));
        leg.router = token;
        Sweep memory s = _sweep(_legs(leg, _v3Leg(IERC20(token), 1e18, APPROVED)), address(weth));
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterIsToken.selector, 0, token));
    }

    /// @dev However often a router comes, with however many of its functions.
    function test_a_router_that_comes_again_is_no_token_either() public {
        bytes4[2] memory selectors = [ISwapRouter02.exactInput.selector, ISwapRouter02.exactInputSingle.selector];
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](3);
        for (uint256 i = 0; i < 2; ++i) {
            v5.allowRouter(address(dai), selectors[i], PREFUNDED + 1, address(0));
            legs[i] = _leg(i == 0 ? usdc : wbtc, 1e6, PREFUNDED, abi.encodePacked(selectors[i]));
            legs[i].router = address(dai);
        }
        legs[2] = _v3Leg(dai, 1e18, PREFUNDED);
        bytes memory expected = abi.encodeWithSelector(ISweepBatch.RouterIsToken.selector, 0, address(dai));
        _expectRevert(_sweep(legs, address(weth)), expected);
    }

    /// @dev The contract marks what it saw by the lowest byte of the address; that two share it must mean nothing.
    function test_tokens_and_routers_that_share_a_mark_are_still_different() public {
        address usdcTwin = _twin(address(usdc));
        address routerTwin = _twin(address(router));
        ISweepBatch.Leg[] memory legs = new ISweepBatch.Leg[](3);
        legs[0] = _v3Leg(usdc, 1e6, APPROVED);
        legs[1] = _v3Leg(IERC20(usdcTwin), 1e18, PREFUNDED);
        legs[2] = _v3Leg(IERC20(routerTwin), 1e18, APPROVED);
        uint256 snapshot = vm.snapshotState();
        _send(_sweep(legs, address(weth)));
        assertTrue(v5.isNonceUsed(7));
        vm.revertToState(snapshot);

        legs[2] = legs[0]; // a duplicate behind the twin
        _expectRevert(
            _sweep(legs, address(weth)), abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, address(usdc))
        );
    }

    function test_a_leg_without_a_router_runs_beside_a_token_that_shares_the_mark_of_a_router() public {
        IERC20 routerTwin = IERC20(_twin(address(router)));
        Sweep memory s = _sweep(_legs(_wethLeg(1e18), _v3Leg(routerTwin, 1e18, APPROVED)), NATIVE);
        _send(s);
        assertGt(user.balance, 0.99e18);
    }

    function _twin(address account) private returns (address twin) {
        twin = _tokenAt(address(uint160(account) ^ (1 << 100)));
        _addPools(IERC20(twin), POOL_TOKENS * 1e18);
    }

    function _tokenAt(address account) private returns (address) {
        deployCodeTo(_built("MintableToken"), abi.encode("TWIN", "TWIN", uint8(18)), account);
        return account;
    }

    function test_no_address_escapes_its_mark() public {
        uint8[6] memory lowestBytes = [0, 1, 2, 127, 254, 255];
        bytes memory data = abi.encodePacked(ISwapRouter02.exactInput.selector);
        for (uint256 i = 0; i < lowestBytes.length; ++i) {
            address token = _tokenAt(address(uint160(0x111100) + lowestBytes[i]));
            ISweepBatch.Leg memory once = _v3Leg(IERC20(token), 1e18, APPROVED);
            bytes memory expected = abi.encodeWithSelector(ISweepBatch.DuplicateToken.selector, token);
            _expectRevert(_sweep(_legs(once, once), address(weth)), expected);

            v5.allowRouter(token, ISwapRouter02.exactInput.selector, PREFUNDED + 1, address(0));
            ISweepBatch.Leg memory through = _leg(usdc, 1e6, PREFUNDED, data);
            through.router = token;
            expected = abi.encodeWithSelector(ISweepBatch.RouterIsToken.selector, 0, token);
            _expectRevert(_sweep(_legs(through, once), address(weth)), expected);
            _expectRevert(_sweep(_legs(through), token), expected);
        }
    }

    function test_a_router_that_lost_its_code_is_not_called() public {
        Sweep memory s = _usdcSweep(APPROVED);
        vm.etch(address(router), "");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterWithoutCode.selector, 0, address(router)));
    }

    function test_a_leg_that_fails_is_named_with_its_reason() public {
        ISweepBatch.Leg memory leg = _v3Leg(usdc, 1_000e6, APPROVED);
        leg.data = abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams(
                    address(usdc), address(weth), POOL_FEE, address(v5), 1_000e6, 1_000e18, 0
                ))
        );
        Sweep memory s = _sweep(_legs(_v3Leg(dai, 1e18, APPROVED), leg), address(weth));
        bytes memory reason = abi.encodeWithSignature("Error(string)", "Too little received");
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.LegFailed.selector, 1, address(router), reason));
    }

    function test_a_reason_of_any_length_is_passed_on_as_it_is() public {
        uint8[6] memory lengths = [0, 1, 31, 32, 33, 100];
        for (uint256 i = 0; i < lengths.length; ++i) {
            bytes memory reason = new bytes(lengths[i]);
            for (uint256 j = 0; j < reason.length; ++j) {
                reason[j] = bytes1(uint8(j + 1));
            }
            vm.mockCallRevert(address(router), abi.encodePacked(ISwapRouter02.exactInputSingle.selector), reason);
            Sweep memory s = _usdcSweep(APPROVED);
            _expectRevert(s, abi.encodeWithSelector(ISweepBatch.LegFailed.selector, 0, address(router), reason));
        }
    }

    function test_a_removed_router_is_not_called() public {
        bytes4 selector = ISwapRouter02.exactInputSingle.selector;
        Sweep memory s = _usdcSweep(APPROVED);
        v5.removeRouter(address(router), selector);
        _expectRevert(s, abi.encodeWithSelector(ISweepBatch.RouterNotAllowed.selector, 0, address(router), selector));
        (uint8 modes, address spender) = IRouterAllowList(address(v5)).routerRule(address(router), selector);
        assertEq(modes, 0);
        assertEq(spender, address(0));
    }
}
