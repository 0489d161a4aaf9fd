// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MintableToken} from "./MintableToken.sol";

/// @title DaiPermitToken
/// @notice A standard ERC-20 with DAI's permit, which is older than EIP-2612: its nonce is an argument, and it allows
/// everything or nothing. Anyone may mint.
contract DaiPermitToken is MintableToken {
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
    string public constant version = "1";
    bytes32 public immutable DOMAIN_SEPARATOR;
    mapping(address holder => uint256 nonce) public nonces;

    error InvalidPermit();

    constructor(string memory name_, string memory symbol_, uint8 decimals_) MintableToken(name_, symbol_, decimals_) {
        DOMAIN_SEPARATOR = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name_)),
                keccak256(bytes(version)),
                block.chainid,
                address(this)
            )
        );
    }

    function permit(
        address holder,
        address spender,
        uint256 nonce,
        uint256 expiry,
        bool allowed,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        bytes32 structHash = keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, nonce, expiry, allowed));
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", DOMAIN_SEPARATOR, structHash));
        bool signed = ECDSA.recover(digest, v, r, s) == holder;
        bool isValid = signed && nonce == nonces[holder]++ && (expiry == 0 || block.timestamp <= expiry);
        if (!isValid) revert InvalidPermit();
        _approve(holder, spender, allowed ? type(uint256).max : 0);
    }
}
