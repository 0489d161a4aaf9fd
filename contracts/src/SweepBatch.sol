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
/// @notice What every sweep does, whatever the fee: transfer the tokens with Permit2, run the legs through allow-listed
/// routers, measure the output, pay it out, and keep nothing. Derived contracts decide who may sweep and how the output
/// is split.
abstract contract SweepBatch is ISweepBatch, RouterAllowList, Pausable {
    using SafeERC20 for IERC20;

    /// @dev What the user's Permit2 signature covers in addition to the tokens.
    struct SignedPermit {
        uint256 nonce;
        uint256 deadline;
        bytes32 witness;
        string witnessTypeString;
    }

    /// @dev The checked batch, by leg: the transfers for Permit2 and, for approved legs, the spender to approve and
    /// this contract's balance of the token before the transfer.
    struct Plan {
        IPermit2.TokenPermissions[] permitted;
        IPermit2.SignatureTransferDetails[] transfers;
        address[] spenders;
        uint256[] balancesBefore;
        bool hasApprovedLegs;
    }

    /// @dev What the check of a leg passes on to the next. The filters are Bloom filters of addresses with a single
    /// hash: a clear bit proves that an address has not occurred, a set bit calls for an exact check. The rest caches
    /// the rule of the last pair.
    struct LegScan {
        uint256 tokenFilter;
        uint256 routerFilter;
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

    /// @dev Enough for a multi-signature wallet behind a proxy that logs the payment; too little to make a sweep
    /// expensive.
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
    /// @dev Guarded like every admin function: nothing that a sweep calls may change the authority.
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

    /// @dev Swaps the sender's tokens into the output, which stays in this contract to be paid out. Returns the
    /// measured increase of the settlement token's balance (the wrapped native token's if the output is the native
    /// coin), whatever the routers return.
    function _runLegs(
        Leg[] calldata legs,
        address outputToken,
        SignedPermit memory signedPermit,
        bytes calldata permitSignature
    ) internal returns (uint256 grossOutput) {
        IERC20 settlementToken = IERC20(outputToken == NATIVE ? WRAPPED_NATIVE : outputToken);
        Plan memory plan = _checkLegs(legs, outputToken, address(settlementToken));

        // Read before any transfer, like the plan's balances: the idle balance is not part of this sweep.
        uint256 outputBefore = settlementToken.balanceOf(address(this));
        _pull(plan, signedPermit, permitSignature);
        for (uint256 i = 0; i < legs.length; ++i) {
            Leg calldata leg = legs[i];
            uint8 funding = leg.funding;
            if (funding == FUNDING_APPROVED) _swapApproved(i, leg, plan.spenders[i], plan.balancesBefore[i]);
            else if (funding == FUNDING_PREFUNDED) _callRouter(i, leg);
        }
        grossOutput = settlementToken.balanceOf(address(this)) - outputBefore;
        if (plan.hasApprovedLegs) _returnUnspent(legs, plan.balancesBefore);
    }

    /// @dev Reverts if any leg is invalid, and otherwise returns what is needed to run them.
    function _checkLegs(Leg[] calldata legs, address outputToken, address settlementToken)
        private
        view
        returns (Plan memory plan)
    {
        uint256 count = legs.length;
        if (count == 0 || count > MAX_LEGS) revert LegCountOutOfRange(count, MAX_LEGS);
        plan.permitted = new IPermit2.TokenPermissions[](count);
        plan.transfers = new IPermit2.SignatureTransferDetails[](count);
        plan.spenders = new address[](count);
        plan.balancesBefore = new uint256[](count);
        // slither-disable-next-line uninitialized-local - memory is zeroed, and zero filters are empty
        LegScan memory scan;

        for (uint256 i = 0; i < count; ++i) {
            Leg calldata leg = legs[i];
            (address token, uint256 amount, uint8 funding) = (leg.token, leg.amount, leg.funding);
            if (amount == 0) revert ZeroLegAmount(i);
            uint256 bit = _filterBit(token);
            if (scan.tokenFilter & bit != 0) _requireNewToken(plan.permitted, i, token);
            scan.tokenFilter |= bit;

            address receiver = address(this);
            if (funding == FUNDING_NONE) {
                _checkUnrouted(i, leg, outputToken);
            } else {
                if (token == settlementToken) revert TokenIsOutput(token);
                address router = _checkRouted(i, leg, funding, scan);
                if (funding == FUNDING_PREFUNDED) {
                    receiver = router;
                } else {
                    plan.hasApprovedLegs = true;
                    plan.spenders[i] = scan.spender;
                    // slither-disable-next-line calls-loop - a token that reverts must revert the sweep
                    plan.balancesBefore[i] = IERC20(token).balanceOf(address(this));
                }
            }
            IPermit2.TokenPermissions memory permitted = plan.permitted[i];
            (permitted.token, permitted.amount) = (token, amount);
            IPermit2.SignatureTransferDetails memory transfer = plan.transfers[i];
            (transfer.to, transfer.requestedAmount) = (receiver, amount);
        }
        if (scan.routerFilter & (scan.tokenFilter | _filterBit(settlementToken)) != 0) {
            _requireRoutersAreNotTokens(legs, settlementToken);
        }
    }

    /// @dev The only token that needs no swap is the wrapped native token, if the output is the native coin.
    function _checkUnrouted(uint256 index, Leg calldata leg, address outputToken) private view {
        bool unwraps = outputToken == NATIVE && leg.token == WRAPPED_NATIVE;
        if (!unwraps || leg.router != address(0) || leg.data.length != 0) {
            revert UnroutedLegInvalid(index, leg.token, leg.router, leg.data.length);
        }
    }

    /// @dev Reverts unless the leg's call is listed for its funding mode. Returns its router and leaves its rule in
    /// `scan`.
    function _checkRouted(uint256 index, Leg calldata leg, uint8 funding, LegScan memory scan)
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
        // The zero pair matches the initial cache, whose rule is empty like that of any pair that is not listed.
        if (pair != scan.pair) {
            (scan.fundingModes, scan.spender) = _rule(pair);
            scan.pair = pair;
            if (scan.fundingModes == 0) revert RouterNotAllowed(index, router, selector);
            if (router.code.length == 0) revert RouterWithoutCode(index, router);
            scan.routerFilter |= _filterBit(router);
        }
        if (scan.fundingModes & (1 << funding) == 0) revert FundingNotAllowed(index, router, selector, funding);
    }

    function _filterBit(address account) private pure returns (uint256) {
        return 1 << (uint160(account) & 0xff);
    }

    /// @dev The exact check for a token whose filter bit is already set.
    function _requireNewToken(IPermit2.TokenPermissions[] memory permitted, uint256 index, address token) private pure {
        for (uint256 i = 0; i < index; ++i) {
            if (permitted[i].token == token) revert DuplicateToken(token);
        }
    }

    /// @dev The exact check if a router and a token share a filter bit. If a token were also a listed router, calling
    /// it as a router could transfer or approve this contract's balance of it.
    function _requireRoutersAreNotTokens(Leg[] calldata legs, address settlementToken) private pure {
        address last = address(0); // like the router of an unrouted leg
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

    /// @dev Debits the sender only: the owner passed to Permit2 is msg.sender.
    function _pull(Plan memory plan, SignedPermit memory signedPermit, bytes calldata permitSignature) private {
        IPermit2(PERMIT2)
            .permitWitnessTransferFrom(
                IPermit2.PermitBatchTransferFrom(plan.permitted, signedPermit.nonce, signedPermit.deadline),
                plan.transfers,
                msg.sender,
                signedPermit.witness,
                signedPermit.witnessTypeString,
                permitSignature
            );
    }

    /// @dev Approves the amount received, which is less than the leg's amount if the token takes a transfer fee.
    function _swapApproved(uint256 index, Leg calldata leg, address spender, uint256 balanceBefore) private {
        IERC20 token = IERC20(leg.token);
        // slither-disable-next-line calls-loop - a token that reverts must revert the sweep
        token.forceApprove(spender, token.balanceOf(address(this)) - balanceBefore);
        _callRouter(index, leg);
        token.forceApprove(spender, 0);
    }

    /// @dev A router's return data is not trusted, and copied only if the call failed. In assembly, because a Solidity
    /// call always copies it. The calldata is placed in free memory without allocating it.
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

    /// @dev Called after the last leg, so that tokens that a later leg gives back are returned, too. A rebasing token
    /// may round to slightly less than the balance before; then there is nothing to return.
    function _returnUnspent(Leg[] calldata legs, uint256[] memory balancesBefore) private {
        for (uint256 i = 0; i < legs.length; ++i) {
            Leg calldata leg = legs[i];
            if (leg.funding != FUNDING_APPROVED) continue;
            // slither-disable-next-line calls-loop - a token that reverts must revert the sweep
            uint256 held = IERC20(leg.token).balanceOf(address(this));
            if (held > balancesBefore[i]) IERC20(leg.token).safeTransfer(msg.sender, held - balancesBefore[i]);
        }
    }

    // ---------------------------------------------------------------- fee and recipients

    function _checkFeeCap(uint16 totalFeeBps) internal pure {
        if (totalFeeBps > MAX_TOTAL_FEE_BPS) revert TotalFeeAboveCap(totalFeeBps, MAX_TOTAL_FEE_BPS);
    }

    /// @dev The wrapped native token is refused because it credits coin that it receives to the sender: the fee would
    /// stay here.
    function _checkRecipient(address recipient, bool required) internal view {
        bool staysHere = recipient == address(this) || recipient == WRAPPED_NATIVE;
        if (staysHere || (required && recipient == address(0))) revert InvalidRecipient(recipient);
    }

    // ---------------------------------------------------------------- hashing

    /// @dev Returns the EIP-712 struct hash of a struct of value types, encoded in `size` bytes of calldata from
    /// `offset` on. Dirty bits in a value yield a hash that was not signed.
    function _hashStruct(bytes32 typehash, uint256 offset, uint256 size) internal pure returns (bytes32 structHash) {
        assembly ("memory-safe") {
            let free := mload(0x40)
            mstore(free, typehash)
            calldatacopy(add(free, 0x20), offset, size)
            structHash := keccak256(free, add(size, 0x20))
        }
    }

    // ---------------------------------------------------------------- paying out

    function _unwrapIfNative(address outputToken, uint256 amount) internal {
        if (outputToken == NATIVE) IWrappedNative(WRAPPED_NATIVE).withdraw(amount);
    }

    /// @dev Reverts if the user receives less than `minimum`. An ERC-20 is measured by the user's balance, because a
    /// token may take a transfer fee.
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

    /// @dev A fee recipient can neither block a sweep into the native coin nor make it expensive: the gas of the
    /// payment is limited, and if it fails the fee is paid in the wrapped native token.
    function _payFee(address outputToken, address recipient, uint256 amount) internal {
        // slither-disable-next-line incorrect-equality - forcing it gains nothing: a fee of zero needs no payment
        if (amount == 0) return;
        if (outputToken != NATIVE) {
            bool paid = IERC20(outputToken).trySafeTransfer(recipient, amount);
            if (!paid) revert FeeTransferFailed(outputToken, recipient, amount);
        } else if (!_push(recipient, amount, FEE_PUSH_GAS)) {
            IWrappedNative(WRAPPED_NATIVE).deposit{value: amount}();
            IERC20(WRAPPED_NATIVE).safeTransfer(recipient, amount);
            // slither-disable-next-line reentrancy-events - the re-entrancy guard keeps other events of this contract out
            emit PaidWrapped(recipient, amount);
        }
    }

    function _payNative(address recipient, uint256 amount) private {
        if (!_push(recipient, amount, gasleft())) revert NativeTransferFailed(recipient, amount);
    }

    /// @dev In assembly, because a Solidity call copies the return data, however long it is.
    function _push(address recipient, uint256 amount, uint256 gasLimit) private returns (bool success) {
        assembly ("memory-safe") {
            success := call(gasLimit, recipient, amount, 0, 0, 0, 0)
        }
    }

    /// @dev Legs that call these could transfer the user's tokens, call this contract's own functions, or unwrap the
    /// output while it is being measured.
    function _isForbiddenCallee(address account) internal view override returns (bool) {
        return account == PERMIT2 || account == address(this) || account == WRAPPED_NATIVE;
    }
}
