// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {World} from "./support/World.sol";

interface IPairs {
    function getPair(address first, address second) external view returns (address);
}

interface ITokenSurvey {
    struct Place {
        address factory;
        bytes question;
    }

    function pooled(address[] calldata tokens, Place[] memory places) external view returns (bytes memory found);

    function held(address[] calldata tokens, address wallet, uint256 gasLimit)
        external
        view
        returns (bytes memory found);
}

/// @title TokenSurveyTest
/// @notice The survey, placed as an `eth_call` places it, finds the tokens that a wallet holds, and those that have a pool.
contract TokenSurveyTest is World {
    ITokenSurvey private survey = ITokenSurvey(makeAddr("survey"));
    address[] private tokens;

    function setUp() public override {
        super.setUp();
        vm.etch(address(survey), vm.getDeployedCode(_artifact("TokenSurvey")));
        tokens = [makeAddr("nobody trades it"), address(dai), address(weth), address(usdc)];
    }

    function _pairsWith(address other) private view returns (ITokenSurvey.Place memory) {
        return ITokenSurvey.Place(address(v2Factory), abi.encodeCall(IPairs.getPair, (address(0), other)));
    }

    function test_a_token_has_a_pool_if_one_of_the_places_has_one() public {
        address lonely = makeAddr("lonely");
        v2Factory.createPair(address(dai), lonely);
        v2Factory.createPair(address(usdc), makeAddr("middle"));
        ITokenSurvey.Place[] memory places = new ITokenSurvey.Place[](2);
        (places[0], places[1]) = (_pairsWith(lonely), _pairsWith(makeAddr("middle")));
        assertEq(survey.pooled(tokens, places), hex"00010001");
    }

    function test_a_factory_that_fails_or_is_not_there_has_no_pool() public view {
        ITokenSurvey.Place[] memory places = new ITokenSurvey.Place[](2);
        places[0] = ITokenSurvey.Place(address(v2Factory), abi.encodeWithSignature("unknown(address)", address(0)));
        places[1] = ITokenSurvey.Place(address(0xdead), abi.encodeCall(IPairs.getPair, (address(0), address(weth))));
        assertEq(survey.pooled(tokens, places), hex"00000000");
    }

    function test_a_token_is_held_if_it_says_so_whatever_the_others_do() public {
        address wallet = makeAddr("wallet");
        _fund(address(dai), wallet, 1);
        _fund(address(usdc), wallet, 5);
        vm.etch(tokens[0], hex"5b600056"); // a loop that never ends
        vm.etch(address(weth), hex"6001600052620fffff6000f3"); // a balance, and a megabyte of zeros
        assertEq(survey.held{gas: 4_000_000}(tokens, wallet, 200_000), hex"00010001");
    }

    function test_what_answers_with_less_than_a_number_is_not_held() public {
        vm.etch(tokens[0], hex"60016000526001601ff3"); // one byte
        assertEq(survey.held(tokens, makeAddr("wallet"), 200_000), hex"00000000");
    }

    function test_without_places_no_token_has_a_pool() public view {
        assertEq(survey.pooled(tokens, new ITokenSurvey.Place[](0)), hex"00000000");
    }
}
