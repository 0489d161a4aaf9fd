// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @title TokenSurvey
/// @notice Says which of many tokens a wallet holds, and which have a pool. It is never deployed: an `eth_call` with a state
/// override puts this code at an address, so that thousands of tokens cost a few short requests instead of one read each.
contract TokenSurvey {
    /// @notice Where pools of a token may be: a factory, and the call that asks it for the address of one, in which the
    /// token is the first argument.
    struct Place {
        address factory;
        bytes question;
    }

    /// @notice Asks each token what the wallet has of it.
    /// @param tokens The tokens. They may burn all gas that they get, or answer with megabytes.
    /// @param wallet The wallet.
    /// @param gasLimit What each token gets. The call must have as much for each of them.
    /// @return found A byte for each token: 1 if it says that the wallet has some of it, otherwise 0.
    function held(address[] calldata tokens, address wallet, uint256 gasLimit)
        external
        view
        returns (bytes memory found)
    {
        bytes memory question = abi.encodeCall(IERC20.balanceOf, (wallet));
        found = new bytes(tokens.length);
        for (uint256 i = 0; i < tokens.length; ++i) {
            if (_saysMoreThanZero(tokens[i], question, gasLimit)) found[i] = 0x01;
        }
    }

    /// @notice Asks about each token, place after place, until one has a pool.
    /// @param tokens The tokens. They are not called.
    /// @param places The places; whatever is the first argument of a question is replaced. A factory that fails has no pool.
    /// @return found A byte for each token: 1 if there is a pool, otherwise 0.
    function pooled(address[] calldata tokens, Place[] memory places) external view returns (bytes memory found) {
        found = new bytes(tokens.length);
        for (uint256 i = 0; i < tokens.length; ++i) {
            for (uint256 j = 0; j < places.length && found[i] == 0; ++j) {
                bytes memory question = places[j].question;
                address token = tokens[i];
                // Written into the question: each other one would be a copy, and the price of memory rises with its square.
                assembly ("memory-safe") {
                    mstore(add(question, 36), token) // behind the length and the selector
                }
                if (_saysMoreThanZero(places[j].factory, question, gasleft())) found[i] = 0x01;
            }
        }
    }

    /// @dev In assembly, because a Solidity call copies the return data, however long it is.
    function _saysMoreThanZero(address target, bytes memory question, uint256 gasLimit)
        private
        view
        returns (bool says)
    {
        assembly ("memory-safe") {
            let succeeded := staticcall(gasLimit, target, add(question, 32), mload(question), 0, 32)
            says := and(and(succeeded, gt(returndatasize(), 31)), iszero(iszero(mload(0))))
        }
    }
}
