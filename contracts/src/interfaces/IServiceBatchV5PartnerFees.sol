// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ISweepBatch} from "./ISweepBatch.sol";

/// @title IServiceBatchV5PartnerFees
/// @notice Sweeps many tokens of a user into one output and splits the fee on chain between partner and protocol. The user signs
/// the outcome (a Permit2 witness), the service signs the route and the fee (an EIP-712 authorization), and neither can change
/// the other's part.
interface IServiceBatchV5PartnerFees is ISweepBatch {
    /// @notice What the user signs beside the tokens: the promise that the sweep must keep.
    /// @param outputToken What the user gets; `NATIVE` for the chain's coin.
    /// @param minUserOutput The least that the user's balance of it must grow by, in its smallest unit.
    /// @param totalFeeBps The whole fee, in basis points of the gross output.
    /// @param partnerId The partner that built the sweep.
    /// @param authorizationNonce The nonce of the fee authorization that the sweep runs under.
    struct SweepOrder {
        address outputToken;
        uint256 minUserOutput;
        uint16 totalFeeBps;
        bytes32 partnerId;
        uint256 authorizationNonce;
    }

    /// @notice What the service signs: whose sweep, on which route, at which fee, for whom, until when.
    /// @param user Who sends the sweep and whose tokens it takes.
    /// @param partnerId The partner that built the sweep.
    /// @param partnerRecipient Who is paid the partner's part of the fee.
    /// @param protocolRecipient Who is paid the rest of the fee.
    /// @param outputToken What the sweep pays out; `NATIVE` for the chain's coin.
    /// @param totalFeeBps The whole fee, in basis points of the gross output.
    /// @param partnerShareBps The partner's part, in basis points of the fee.
    /// @param nonce A single-use value.
    /// @param deadline The last second, as Unix time, at which the authorization is good.
    /// @param legsHash keccak256(abi.encode(legs)) of the route.
    struct FeeAuthorization {
        address user;
        bytes32 partnerId;
        address partnerRecipient;
        address protocolRecipient;
        address outputToken;
        uint16 totalFeeBps;
        uint16 partnerShareBps;
        uint256 nonce;
        uint256 deadline;
        bytes32 legsHash;
    }

    /// @notice A sweep ran. `grossOutput` = `userAmount` + `totalFee`; `totalFee` = `partnerFee` + `protocolFee`; all in the
    /// output token's smallest unit.
    /// @param nonce The authorization's nonce; one event a nonce.
    /// @param user Whose tokens were swept, and who was paid `userAmount`.
    /// @param partnerId The partner that built the sweep.
    /// @param partnerRecipient Who was paid `partnerFee`.
    /// @param protocolRecipient Who was paid `protocolFee`.
    /// @param outputToken What was paid; `NATIVE` for the chain's coin.
    /// @param tokenCount How many tokens were swept.
    /// @param grossOutput What the contract's balance of the output grew by.
    /// @param totalFee The fee that both signed, in basis points of the gross output, rounded down.
    /// @param partnerFee The partner's part of the fee, rounded down.
    /// @param protocolFee The rest of the fee.
    /// @param userAmount The rest of the gross output.
    event SweepExecutedV5(
        uint256 indexed nonce,
        address indexed user,
        bytes32 indexed partnerId,
        address partnerRecipient,
        address protocolRecipient,
        address outputToken,
        uint256 tokenCount,
        uint256 grossOutput,
        uint256 totalFee,
        uint256 partnerFee,
        uint256 protocolFee,
        uint256 userAmount
    );

    /// @notice Authorizations are checked against another signer from now on.
    /// @param previousSigner Who signed until now; zero at deployment and after a revocation.
    /// @param newSigner Who signs from now on.
    /// @param previousGoodUntil The second, as Unix time, from which those of the previous one no longer count.
    event FeeSignerChanged(address indexed previousSigner, address indexed newSigner, uint256 previousGoodUntil);

    /// @notice Nothing that this signer signed counts any more.
    event FeeSignerRevoked(address indexed signer);

    /// @notice The authorization of this nonce can never run.
    /// @param nonce The authorization's nonce; it has this event or `SweepExecutedV5`, never both.
    /// @param by Who cancelled it.
    event AuthorizationCancelled(uint256 indexed nonce, address indexed by);

    /// @notice The authorization is another user's.
    error WrongUser(address authorizedUser, address sender);
    /// @notice The authorization's last second has passed.
    error AuthorizationExpired(uint256 deadline, uint256 timestamp);
    /// @notice The route is not the one that the service signed.
    error LegsHashMismatch(bytes32 authorizedHash, bytes32 legsHash);
    /// @notice User and service signed different outputs.
    error OutputTokenMismatch(address orderedToken, address authorizedToken);
    /// @notice User and service signed different fees.
    error TotalFeeMismatch(uint16 orderedBps, uint16 authorizedBps);
    /// @notice The partner cannot get more than the whole fee.
    error PartnerShareAboveWhole(uint16 partnerShareBps);
    /// @notice User and service signed different partners.
    error PartnerMismatch(bytes32 orderedPartnerId, bytes32 authorizedPartnerId);
    /// @notice The user signed for another authorization.
    error NonceMismatch(uint256 orderedNonce, uint256 authorizedNonce);
    /// @notice The authorization's signature is neither the fee signer's nor that of a previous one that is still good.
    error InvalidAuthorizationSignature(address feeSigner, bytes32 digest);
    /// @notice The authorization was used or cancelled before.
    error NonceAlreadyUsed(uint256 nonce);
    /// @notice A new fee signer is somebody.
    error ZeroFeeSigner();
    /// @notice A previous signer can't stay good for so long.
    error HandoverTooLong(uint256 handoverSeconds, uint256 maxSeconds);
    /// @notice Nothing that this account signs counts anyway.
    error NotAFeeSigner(address account);

    /// @notice Pulls the sender's tokens, runs the legs, and pays the user, the partner and the protocol out of what the output
    /// balance really grew by. All of it happens or none of it does.
    /// @dev Emits `SweepExecutedV5`, and `PaidWrapped` for a fee recipient that does not take the native coin. Reverts with the
    /// errors of this interface and of `ISweepBatch`, or with those of Permit2 and the tokens.
    /// @param legs The route, 1 to `MAX_LEGS` of them, one a token.
    /// @param order The promise to the user; the witness of the Permit2 signature.
    /// @param authorization The service's word on route and fee.
    /// @param authorizationSignature The fee signer's: 65 bytes with a low s, or whatever its code accepts by EIP-1271.
    /// @param permitNonce The nonce of the Permit2 permit.
    /// @param permitDeadline The last second, as Unix time, at which the Permit2 permit is good.
    /// @param permitSignature The user's, over the Permit2 permit for exactly the tokens and amounts of `legs` with this contract
    /// as spender and `order` as witness: 64 or 65 bytes, or EIP-1271.
    function sweep(
        Leg[] calldata legs,
        SweepOrder calldata order,
        FeeAuthorization calldata authorization,
        bytes calldata authorizationSignature,
        uint256 permitNonce,
        uint256 permitDeadline,
        bytes calldata permitSignature
    ) external;

    /// @notice Makes an authorization void before it runs.
    /// @dev For the fee signer, and for whom the authority lets call this. Reverts with `NonceAlreadyUsed` if it ran or was
    /// cancelled. Emits `AuthorizationCancelled`. Works while paused.
    /// @param nonce The authorization's nonce.
    function cancelAuthorization(uint256 nonce) external;

    /// @notice Names the signer whose authorizations count, and lets the one before be good for a while, so that what it signed
    /// just now still runs. The one before that is forgotten.
    /// @dev Restricted, and meant to be delayed. Reverts with `ZeroFeeSigner` or `HandoverTooLong`. Emits `FeeSignerChanged`.
    /// @param newSigner Whose authorizations count from now on.
    /// @param handoverSeconds How long those of the previous signer still do, counted from this call; at most
    /// `MAX_HANDOVER_SECONDS`, and zero to end them at once.
    function setFeeSigner(address newSigner, uint32 handoverSeconds) external;

    /// @notice Ends a signer at once, be it the current or the previous one. Without a current one no sweep runs but under what
    /// a previous one signed that is still good.
    /// @dev Restricted, and meant to be immediate. Reverts with `NotAFeeSigner`. Emits `FeeSignerRevoked`.
    /// @param signer Whose signatures are worth nothing from now on.
    function revokeFeeSigner(address signer) external;

    /// @notice The signer whose authorizations count; zero after a revocation.
    function feeSigner() external view returns (address);

    /// @notice The signer before, if its authorizations may still count.
    /// @return signer Zero if there is none.
    /// @return goodUntil The second, as Unix time, from which they no longer do.
    function previousFeeSigner() external view returns (address signer, uint64 goodUntil);

    /// @notice Whether the authorization of this nonce can no longer run, because it ran or was cancelled.
    /// @param nonce The authorization's nonce.
    function isNonceUsed(uint256 nonce) external view returns (bool);

    /// @notice keccak256(abi.encode(legs)): the route as the service signs it. `sweep` takes legs only in the ABI's canonical
    /// encoding, the one that every encoder makes, because it hashes them as they were sent.
    /// @param legs The route.
    function hashLegs(Leg[] calldata legs) external pure returns (bytes32);

    /// @notice The EIP-712 digest that the fee signer signs, for this chain and this contract.
    /// @param authorization What is signed.
    function hashAuthorization(FeeAuthorization calldata authorization) external view returns (bytes32);

    /// @notice The EIP-712 struct hash of an order, which is the witness of the Permit2 signature.
    /// @param order What the user is promised.
    function hashOrder(SweepOrder calldata order) external pure returns (bytes32);

    /// @notice The end of the type string that the user's Permit2 signature covers, from the witness's member on.
    function WITNESS_TYPE_STRING() external view returns (string memory);

    /// @notice The longest that a previous signer can stay good.
    function MAX_HANDOVER_SECONDS() external view returns (uint32);
}
