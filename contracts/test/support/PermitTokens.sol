// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";

/// @title Permit tokens
/// @notice Tokens whose allowance can be set with a signature, in the two forms that exist.

/// @notice A token with the permit of EIP-2612. Anyone may mint.
contract Eip2612Token is ERC20Permit {
    constructor() ERC20("Signed", "SIGNED") ERC20Permit("Signed") {}

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }
}

/// @notice A token with DAI's permit, whose nonce is an argument and which allows everything or nothing. Anyone may mint.
contract DaiKindToken is ERC20 {
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
    bytes32 public immutable DOMAIN_SEPARATOR;
    mapping(address holder => uint256 nonce) public nonces;

    error InvalidPermit();

    constructor() ERC20("Dai kind", "DAIKIND") {
        DOMAIN_SEPARATOR = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("Dai kind"),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
    }

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
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
