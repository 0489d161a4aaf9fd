// SPDX-License-Identifier: UNLICENSED
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
    /// @param tokenCount How many tokens were swept.
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
    event FeeSignerChanged(address indexed previousSigner, address indexed newSigner);

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
    /// @notice The fee is above the cap that no signature can lift.
    error TotalFeeAboveCap(uint16 totalFeeBps, uint16 capBps);
    /// @notice The partner cannot get more than the whole fee.
    error PartnerShareAboveWhole(uint16 partnerShareBps);
    /// @notice User and service signed different partners.
    error PartnerMismatch(bytes32 orderedPartnerId, bytes32 authorizedPartnerId);
    /// @notice The user signed for another authorization.
    error NonceMismatch(uint256 orderedNonce, uint256 authorizedNonce);
    /// @notice A recipient that is owed something is nobody, this contract, or the wrapped coin, which would keep what it is paid.
    error InvalidRecipient(address recipient);
    /// @notice The authorization's signature is not the fee signer's.
    error InvalidAuthorizationSignature(address feeSigner, bytes32 digest);
    /// @notice The authorization was used before.
    error NonceAlreadyUsed(uint256 nonce);
    /// @notice There must be a fee signer.
    error ZeroFeeSigner();

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

    /// @notice Names the signer whose authorizations count.
    /// @dev Restricted. Reverts with `ZeroFeeSigner`. Emits `FeeSignerChanged`.
    function setFeeSigner(address newSigner) external;

    /// @notice The signer whose authorizations count.
    function feeSigner() external view returns (address);

    /// @notice Whether the authorization of this nonce can no longer run.
    function isNonceUsed(uint256 nonce) external view returns (bool);

    /// @notice The EIP-712 digest that the fee signer signs, for this chain and this contract.
    function hashAuthorization(FeeAuthorization calldata authorization) external view returns (bytes32);

    /// @notice The EIP-712 struct hash of an order, which is the witness of the Permit2 signature.
    function hashOrder(SweepOrder calldata order) external pure returns (bytes32);

    /// @notice The end of the type string that the user's Permit2 signature covers, from the witness's member on.
    function WITNESS_TYPE_STRING() external view returns (string memory);

    /// @notice The highest fee that any signature can set, in basis points of the gross output.
    function MAX_TOTAL_FEE_BPS() external view returns (uint16);
}
