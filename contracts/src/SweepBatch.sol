// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {AccessManaged} from "@openzeppelin/contracts/access/manager/AccessManaged.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {IPermit2} from "./interfaces/IPermit2.sol";
import {ISweepBatch} from "./interfaces/ISweepBatch.sol";
import {IWrappedNative} from "./interfaces/IWrappedNative.sol";
import {RouterAllowList} from "./RouterAllowList.sol";

/// @title SweepBatch
/// @notice The part of a sweep that is the same whoever takes the fee: pull by Permit2, run the legs through listed routers,
/// measure what came, pay it out, keep nothing. Contracts on top say who may sweep and how the output is split.
abstract contract SweepBatch is ISweepBatch, RouterAllowList, Pausable {
    using SafeERC20 for IERC20;

    /// @dev What the user's Permit2 signature covers beside the tokens.
    struct SignedPermit {
        uint256 nonce;
        uint256 deadline;
        bytes32 witness;
        string witnessTypeString;
    }

    /// @dev What is known of a batch before it runs, by leg: what Permit2 takes and where it goes, and of an approved leg who is
    /// approved and what of its token was here already.
    struct Plan {
        IPermit2.TokenPermissions[] taken;
        IPermit2.SignatureTransferDetails[] transfers;
        address[] spenders;
        uint256[] heldBefore;
        bool approvedLegs;
    }

    /// @dev What the check of one leg leaves for those after it. Marks are sets of addresses in 256 bits, with one bit for many
    /// addresses: a bit that is not set proves an address new, and a bit that is set calls for a closer look.
    struct Seen {
        uint256 tokenMarks;
        uint256 routerMarks;
        bytes32 pair;
        uint8 fundingModes;
        address spender;
    }

    /// @inheritdoc ISweepBatch
    uint256 public constant MAX_LEGS = 30;
    /// @inheritdoc ISweepBatch
    address public constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    /// @inheritdoc ISweepBatch
    uint16 public constant MAX_TOTAL_FEE_BPS = 300;
    uint16 internal constant BPS_DENOMINATOR = 10_000;

    /// @dev Enough for a multi-signature wallet behind a proxy that logs what it gets; too little to be worth burning.
    uint256 private constant FEE_PUSH_GAS = 50_000;

    /// @inheritdoc ISweepBatch
    address public immutable PERMIT2;
    /// @inheritdoc ISweepBatch
    address public immutable WRAPPED_NATIVE;

    constructor(address authority, address permit2, address wrappedNative) RouterAllowList(authority) {
        _requireCode(permit2);
        _requireCode(wrappedNative);
        PERMIT2 = permit2;
        WRAPPED_NATIVE = wrappedNative;
    }

    receive() external payable {
        if (msg.sender != WRAPPED_NATIVE) revert UnexpectedNative(msg.sender, msg.value);
    }

    /// @inheritdoc ISweepBatch
    function pause() external nonReentrant restricted {
        _pause();
    }

    /// @inheritdoc ISweepBatch
    function unpause() external nonReentrant restricted {
        _unpause();
    }

    /// @inheritdoc AccessManaged
    /// @dev Guarded like every admin function: nothing that a sweep calls may change who rules the contract.
    function setAuthority(address newAuthority) public override nonReentrant {
        super.setAuthority(newAuthority);
    }

    /// @inheritdoc ISweepBatch
    function rescue(address token, address to, uint256 amount) external nonReentrant restricted {
        _checkRecipient(to, true);
        if (token == NATIVE) _payNative(to, amount);
        else IERC20(token).safeTransfer(to, amount);
        emit Rescued(token, to, amount);
    }

    // ---------------------------------------------------------------- running the legs

    /// @dev Takes the sender's tokens and turns them into the output, which stays here to be paid out. Returns what the balance
    /// of the settlement token (the wrapped coin for the native one) grew by, whatever the routers say.
    function _runLegs(
        Leg[] calldata legs,
        address outputToken,
        SignedPermit memory signedPermit,
        bytes calldata permitSignature
    ) internal returns (uint256 grossOutput) {
        IERC20 settlementToken = IERC20(outputToken == NATIVE ? WRAPPED_NATIVE : outputToken);
        Plan memory plan = _checkLegs(legs, outputToken, address(settlementToken));

        // Read before anything moves, like the plan's balances: what was here already is no part of this sweep.
        uint256 outputBefore = settlementToken.balanceOf(address(this));
        _pull(plan, signedPermit, permitSignature);
        for (uint256 i = 0; i < legs.length; ++i) {
            Leg calldata leg = legs[i];
            uint8 funding = leg.funding;
            if (funding == FUNDING_APPROVED) _swapApproved(i, leg, plan.spenders[i], plan.heldBefore[i]);
            else if (funding == FUNDING_PREFUNDED) _callRouter(i, leg);
        }
        grossOutput = settlementToken.balanceOf(address(this)) - outputBefore;
        if (plan.approvedLegs) _returnUnspent(legs, plan.heldBefore);
    }

    /// @dev Reverts unless every leg is one that may run, and prepares what running them takes.
    function _checkLegs(Leg[] calldata legs, address outputToken, address settlementToken)
        private
        view
        returns (Plan memory plan)
    {
        uint256 count = legs.length;
        if (count == 0 || count > MAX_LEGS) revert LegCountOutOfRange(count, MAX_LEGS);
        plan.taken = new IPermit2.TokenPermissions[](count);
        plan.transfers = new IPermit2.SignatureTransferDetails[](count);
        plan.spenders = new address[](count);
        plan.heldBefore = new uint256[](count);
        // slither-disable-next-line uninitialized-local - memory begins as zeros, which say that nothing was seen
        Seen memory seen;

        for (uint256 i = 0; i < count; ++i) {
            Leg calldata leg = legs[i];
            (address token, uint256 amount, uint8 funding) = (leg.token, leg.amount, leg.funding);
            if (amount == 0) revert ZeroLegAmount(i);
            uint256 mark = _mark(token);
            if (seen.tokenMarks & mark != 0) _requireNewToken(plan.taken, i, token);
            seen.tokenMarks |= mark;

            address receiver = address(this);
            if (funding == FUNDING_NONE) {
                _checkUnrouted(i, leg, outputToken);
            } else {
                if (token == settlementToken) revert TokenIsOutput(token);
                address router = _checkRouted(i, leg, funding, seen);
                if (funding == FUNDING_PREFUNDED) {
                    receiver = router;
                } else {
                    plan.approvedLegs = true;
                    plan.spenders[i] = seen.spender;
                    // slither-disable-next-line calls-loop - a token that reverts fails its sweep, as it must
                    plan.heldBefore[i] = IERC20(token).balanceOf(address(this));
                }
            }
            IPermit2.TokenPermissions memory taken = plan.taken[i];
            (taken.token, taken.amount) = (token, amount);
            IPermit2.SignatureTransferDetails memory transfer = plan.transfers[i];
            (transfer.to, transfer.requestedAmount) = (receiver, amount);
        }
        if (seen.routerMarks & (seen.tokenMarks | _mark(settlementToken)) != 0) {
            _requireRoutersAreNoTokens(legs, settlementToken);
        }
    }

    /// @dev The only token that needs no swap is the wrapped coin on its way to the native coin.
    function _checkUnrouted(uint256 index, Leg calldata leg, address outputToken) private view {
        bool unwraps = outputToken == NATIVE && leg.token == WRAPPED_NATIVE;
        if (!unwraps || leg.router != address(0) || leg.data.length != 0) {
            revert UnroutedLegInvalid(index, leg.token, leg.router, leg.data.length);
        }
    }

    /// @dev Returns the router of a leg whose call is listed for its funding, and leaves its rule in `seen`.
    function _checkRouted(uint256 index, Leg calldata leg, uint8 funding, Seen memory seen)
        private
        view
        returns (address router)
    {
        if (funding > FUNDING_NONE) revert UnknownFunding(index, funding);
        bytes calldata data = leg.data;
        if (data.length < 4) revert SelectorMissing(index, data.length);
        router = leg.router;
        bytes4 selector = bytes4(data);
        bytes32 pair = _pair(router, selector);
        // The pair of zeros looks as if it was seen; its rule is empty like that of any pair that is not listed.
        if (pair != seen.pair) {
            (seen.fundingModes, seen.spender) = _rule(pair);
            seen.pair = pair;
            if (seen.fundingModes == 0) revert RouterNotAllowed(index, router, selector);
            if (router.code.length == 0) revert RouterWithoutCode(index, router);
            seen.routerMarks |= _mark(router);
        }
        if (seen.fundingModes & (1 << funding) == 0) revert FundingNotAllowed(index, router, selector, funding);
    }

    function _mark(address account) private pure returns (uint256) {
        return 1 << (uint160(account) & 0xff);
    }

    /// @dev The closer look at a token whose mark was seen before.
    function _requireNewToken(IPermit2.TokenPermissions[] memory taken, uint256 index, address token) private pure {
        for (uint256 i = 0; i < index; ++i) {
            if (taken[i].token == token) revert DuplicateToken(token);
        }
    }

    /// @dev The closer look if a router and a token share a mark. A token that is also a listed router could move or approve what
    /// is here while it is swapped.
    function _requireRoutersAreNoTokens(Leg[] calldata legs, address settlementToken) private pure {
        address last = address(0); // as the router of a leg without one
        for (uint256 i = 0; i < legs.length; ++i) {
            address router = legs[i].router;
            if (router == last || router == address(0)) continue;
            last = router;
            if (router == settlementToken) revert RouterIsToken(i, router);
            for (uint256 j = 0; j < legs.length; ++j) {
                if (legs[j].token == router) revert RouterIsToken(i, router);
            }
        }
    }

    /// @dev Only ever debits the sender: the owner named to Permit2 is msg.sender, and the amounts are those signed.
    function _pull(Plan memory plan, SignedPermit memory signedPermit, bytes calldata permitSignature) private {
        IPermit2(PERMIT2)
            .permitWitnessTransferFrom(
                IPermit2.PermitBatchTransferFrom(plan.taken, signedPermit.nonce, signedPermit.deadline),
                plan.transfers,
                msg.sender,
                signedPermit.witness,
                signedPermit.witnessTypeString,
                permitSignature
            );
    }

    /// @dev Approves what came, not what was asked for: a token with a transfer fee brings less.
    function _swapApproved(uint256 index, Leg calldata leg, address spender, uint256 heldBefore) private {
        IERC20 token = IERC20(leg.token);
        // slither-disable-next-line calls-loop - a token that reverts fails its sweep, as it must
        token.forceApprove(spender, token.balanceOf(address(this)) - heldBefore);
        _callRouter(index, leg);
        token.forceApprove(spender, 0);
    }

    /// @dev What a router returns is neither needed nor believed; it is copied only to be told if the call failed. In assembly,
    /// because Solidity's call copies it always. The call data lies where memory is free and is forgotten.
    function _callRouter(uint256 index, Leg calldata leg) private {
        address router = leg.router;
        bytes calldata data = leg.data;
        bool success;
        assembly ("memory-safe") {
            let free := mload(0x40)
            calldatacopy(free, data.offset, data.length)
            success := call(gas(), router, 0, free, data.length, 0, 0)
        }
        if (!success) revert LegFailed(index, router, _returnedData());
    }

    function _returnedData() private pure returns (bytes memory returned) {
        assembly ("memory-safe") {
            returned := mload(0x40)
            mstore(returned, returndatasize())
            returndatacopy(add(returned, 0x20), 0, returndatasize())
            mstore(0x40, and(add(add(returned, returndatasize()), 0x3f), not(0x1f)))
        }
    }

    /// @dev After the last leg, so that a token which a later leg hands back is returned too. A rebasing token may round to a
    /// little less than was here before; then there is nothing to return.
    function _returnUnspent(Leg[] calldata legs, uint256[] memory heldBefore) private {
        for (uint256 i = 0; i < legs.length; ++i) {
            Leg calldata leg = legs[i];
            if (leg.funding != FUNDING_APPROVED) continue;
            // slither-disable-next-line calls-loop - a token that reverts fails its sweep, as it must
            uint256 held = IERC20(leg.token).balanceOf(address(this));
            if (held > heldBefore[i]) IERC20(leg.token).safeTransfer(msg.sender, held - heldBefore[i]);
        }
    }

    // ---------------------------------------------------------------- fee and recipients

    function _checkFeeCap(uint16 totalFeeBps) internal pure {
        if (totalFeeBps > MAX_TOTAL_FEE_BPS) revert TotalFeeAboveCap(totalFeeBps, MAX_TOTAL_FEE_BPS);
    }

    /// @dev The wrapped coin is refused because it answers coin by crediting the sender: the fee would come back and stay here.
    function _checkRecipient(address recipient, bool owedSomething) internal view {
        bool wouldKeepItHere = recipient == address(this) || recipient == WRAPPED_NATIVE;
        if (wouldKeepItHere || (owedSomething && recipient == address(0))) revert InvalidRecipient(recipient);
    }

    // ---------------------------------------------------------------- hashing

    /// @dev The EIP-712 struct hash of a struct of value types as it lies in the calldata, `size` bytes from `offset` on. Bits that
    /// its types do not have make another hash, which nobody signed.
    function _hashStruct(bytes32 typehash, uint256 offset, uint256 size) internal pure returns (bytes32 structHash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typehash)
            calldatacopy(add(free, 0x20), offset, size)
            structHash := keccak256(free, add(size, 0x20))
        }
    }

    // ---------------------------------------------------------------- paying out

    /// @dev Turns what was measured in the wrapped coin into what is paid.
    function _unwrapIfNative(address outputToken, uint256 amount) internal {
        if (outputToken == NATIVE) IWrappedNative(WRAPPED_NATIVE).withdraw(amount);
    }

    /// @dev The user gets at least `minimum` or the sweep reverts. An ERC-20 is measured at the user, because a token can keep a
    /// part of what is sent; the coin cannot.
    function _payUser(address outputToken, uint256 amount, uint256 minimum) internal {
        uint256 received = amount;
        if (outputToken == NATIVE) {
            _payNative(msg.sender, amount);
        } else {
            uint256 before = IERC20(outputToken).balanceOf(msg.sender);
            IERC20(outputToken).safeTransfer(msg.sender, amount);
            received = IERC20(outputToken).balanceOf(msg.sender) - before;
        }
        if (received < minimum) revert InsufficientUserOutput(received, minimum);
    }

    /// @dev A fee recipient can neither stop a sweep in the native coin nor make it expensive: one that refuses is paid wrapped.
    function _payFee(address outputToken, address recipient, uint256 amount) internal {
        // slither-disable-next-line incorrect-equality - no condition to force: a fee of zero is none to pay
        if (amount == 0) return;
        if (outputToken != NATIVE) {
            bool paid = IERC20(outputToken).trySafeTransfer(recipient, amount);
            if (!paid) revert FeeTransferFailed(outputToken, recipient, amount);
        } else if (!_push(recipient, amount, FEE_PUSH_GAS)) {
            IWrappedNative(WRAPPED_NATIVE).deposit{value: amount}();
            IERC20(WRAPPED_NATIVE).safeTransfer(recipient, amount);
            // slither-disable-next-line reentrancy-events - under the guard, no call can put an event between
            emit PaidWrapped(recipient, amount);
        }
    }

    function _payNative(address recipient, uint256 amount) private {
        if (!_push(recipient, amount, gasleft())) revert NativeTransferFailed(recipient, amount);
    }

    /// @dev In assembly, because Solidity's call copies what the recipient returns, however much that is.
    function _push(address recipient, uint256 amount, uint256 gasLimit) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasLimit, recipient, amount, 0, 0, 0, 0)
        }
    }

    /// @dev A leg that called these could pull from the user, pay itself from here, or unwrap what is being measured.
    function _isForbiddenCallee(address account) internal view override returns (bool) {
        return account == PERMIT2 || account == address(this) || account == WRAPPED_NATIVE;
    }
}
