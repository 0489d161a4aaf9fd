// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {ISwapRouter02} from "./Uniswap.sol";
import {World} from "./World.sol";

interface IDomain {
    function DOMAIN_SEPARATOR() external view returns (bytes32);
}

/// @title SweepTest
/// @notice The parts of the service and the user in a sweep: build routes, sign, and send the transaction. Each test
/// changes one thing in a sweep that would otherwise succeed.
abstract contract SweepTest is World {
    using SafeERC20 for IERC20;

    /// @dev The arguments of one transaction, and its sender.
    struct Sweep {
        address sender;
        ISweepBatch.Leg[] legs;
        IV5.SweepOrder order;
        IV5.FeeAuthorization authorization;
        bytes authorizationSignature;
        uint256 permitNonce;
        uint256 permitDeadline;
        bytes permitSignature;
    }

    /// @dev What a Permit2 signature covers in addition to tokens and witness.
    struct Permit {
        address spender;
        uint256 nonce;
        uint256 deadline;
    }

    uint8 internal constant APPROVED = 0;
    uint8 internal constant PREFUNDED = 1;
    uint8 internal constant UNROUTED = 2;
    uint8 internal constant BOTH_MODES = 3;
    address internal constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    bytes32 internal constant PARTNER_ID = keccak256("partner");

    IV5 internal v5;
    uint256 internal signerKey;
    address internal signer;
    uint256 internal userKey;
    address internal user;
    address internal partner = makeAddr("partner");
    address internal protocol = makeAddr("protocol");

    function setUp() public virtual override {
        super.setUp();
        (signer, signerKey) = makeAddrAndKey("fee signer");
        (user, userKey) = makeAddrAndKey("user");
        v5 = IV5(
            deployCode(
                _artifact("ServiceBatchV5PartnerFees"), abi.encode(address(manager), PERMIT2, address(weth), signer)
            )
        );
        v5.allowRouter(address(router), ISwapRouter02.exactInputSingle.selector, BOTH_MODES, address(router));
        v5.allowRouter(address(router), ISwapRouter02.exactInput.selector, BOTH_MODES, address(router));
        v5.allowRouter(address(router), ISwapRouter02.swapExactTokensForTokens.selector, BOTH_MODES, address(router));
    }

    // ---------------------------------------------------------------- routes

    /// @dev A swap to the wrapped native token through the V3 0.3 % pool.
    function _v3Leg(IERC20 token, uint256 amount, uint8 funding) internal returns (ISweepBatch.Leg memory) {
        return _v3LegTo(token, address(weth), amount, funding, address(v5));
    }

    function _v3LegTo(IERC20 token, address output, uint256 amount, uint8 funding, address recipient)
        internal
        returns (ISweepBatch.Leg memory)
    {
        return _leg(
            token,
            amount,
            funding,
            abi.encodeCall(
                ISwapRouter02.exactInputSingle,
                (ISwapRouter02.ExactInputSingleParams({
                        tokenIn: address(token),
                        tokenOut: output,
                        fee: POOL_FEE,
                        recipient: recipient,
                        amountIn: funding == PREFUNDED ? 0 : amount,
                        amountOutMinimum: 1,
                        sqrtPriceLimitX96: 0
                    }))
            )
        );
    }

    /// @dev A V3 swap through the wrapped native token to another token.
    function _v3PathLeg(IERC20 token, IERC20 output, uint256 amount, uint8 funding)
        internal
        returns (ISweepBatch.Leg memory)
    {
        return _leg(
            token,
            amount,
            funding,
            abi.encodeCall(
                ISwapRouter02.exactInput,
                (ISwapRouter02.ExactInputParams({
                        path: abi.encodePacked(token, POOL_FEE, weth, POOL_FEE, output),
                        recipient: address(v5),
                        amountIn: funding == PREFUNDED ? 0 : amount,
                        amountOutMinimum: 1
                    }))
            )
        );
    }

    function _v2Leg(IERC20 token, uint256 amount, uint8 funding) internal returns (ISweepBatch.Leg memory) {
        address[] memory path = new address[](2);
        (path[0], path[1]) = (address(token), address(weth));
        return _v2PathLeg(path, amount, funding);
    }

    function _v2PathLeg(address[] memory path, uint256 amount, uint8 funding)
        internal
        returns (ISweepBatch.Leg memory)
    {
        uint256 amountIn = funding == PREFUNDED ? 0 : amount;
        return _leg(
            IERC20(path[0]),
            amount,
            funding,
            abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (amountIn, 1, path, address(v5)))
        );
    }

    /// @dev Gives the user the leg's tokens and approves Permit2, as wallets do once per token.
    function _leg(IERC20 token, uint256 amount, uint8 funding, bytes memory data)
        internal
        returns (ISweepBatch.Leg memory)
    {
        _give(user, address(token), amount);
        return ISweepBatch.Leg(address(token), amount, address(router), funding, data);
    }

    function _wethLeg(uint256 amount) internal returns (ISweepBatch.Leg memory) {
        _give(user, address(weth), amount);
        return ISweepBatch.Leg(address(weth), amount, address(0), UNROUTED, "");
    }

    function _give(address to, address token, uint256 amount) internal {
        _fund(token, to, amount);
        vm.startPrank(to);
        IERC20(token).forceApprove(PERMIT2, type(uint256).max);
        vm.stopPrank();
    }

    function _legs(ISweepBatch.Leg memory a) internal pure returns (ISweepBatch.Leg[] memory legs) {
        legs = new ISweepBatch.Leg[](1);
        legs[0] = a;
    }

    function _legs(ISweepBatch.Leg memory a, ISweepBatch.Leg memory b)
        internal
        pure
        returns (ISweepBatch.Leg[] memory legs)
    {
        legs = new ISweepBatch.Leg[](2);
        (legs[0], legs[1]) = (a, b);
    }

    /// @dev 1,000 USDC to the wrapped native token: the sweep that most tests start from.
    function _usdcSweep(uint8 funding) internal returns (Sweep memory) {
        return _sweep(_legs(_v3Leg(usdc, 1_000e6, funding)), address(weth));
    }

    // ---------------------------------------------------------------- orders and signatures

    /// @dev A sweep on the usual terms, signed by both: a fee of 75 bps, of which the partner receives 40 %.
    function _sweep(ISweepBatch.Leg[] memory legs, address outputToken) internal view returns (Sweep memory s) {
        s.sender = user;
        s.legs = legs;
        s.order = IV5.SweepOrder(outputToken, 1, 75, PARTNER_ID, 7);
        s.authorization = IV5.FeeAuthorization({
            user: user,
            partnerId: PARTNER_ID,
            partnerRecipient: partner,
            protocolRecipient: protocol,
            outputToken: outputToken,
            totalFeeBps: 75,
            partnerShareBps: 4_000,
            nonce: 7,
            deadline: block.timestamp + 900,
            legsHash: 0
        });
        s.permitNonce = 11;
        s.permitDeadline = block.timestamp + 900;
        _sign(s);
    }

    function _sign(Sweep memory s) internal view {
        s.authorization.legsHash = v5.hashLegs(s.legs);
        _signAuthorization(s);
        s.permitSignature = _signature(userKey, _permitDigest(s));
    }

    function _signAuthorization(Sweep memory s) internal view {
        s.authorizationSignature = _signature(signerKey, v5.hashAuthorization(s.authorization));
    }

    function _signature(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _permitDigest(Sweep memory s) internal view returns (bytes32) {
        string memory orderType =
            "SweepOrder(address outputToken,uint256 minUserOutput,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce)";
        bytes32 orderHash = keccak256(abi.encode(keccak256(bytes(orderType)), s.order));
        Permit memory permit = Permit(address(v5), s.permitNonce, s.permitDeadline);
        return _permitDigest(s.legs, permit, "SweepOrder witness)", orderType, orderHash);
    }

    /// @dev The digest of Permit2's batch form, derived from EIP-712 and not from the code under test.
    function _permitDigest(
        ISweepBatch.Leg[] memory legs,
        Permit memory permit,
        string memory witnessMember,
        string memory orderType,
        bytes32 orderHash
    ) internal view returns (bytes32) {
        string memory permissionType = "TokenPermissions(address token,uint256 amount)";
        bytes32[] memory permissions = new bytes32[](legs.length);
        for (uint256 i = 0; i < legs.length; ++i) {
            permissions[i] = keccak256(abi.encode(keccak256(bytes(permissionType)), legs[i].token, legs[i].amount));
        }
        bytes32 typehash = keccak256(
            abi.encodePacked(
                "PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,",
                witnessMember,
                orderType,
                permissionType
            )
        );
        bytes32 structHash = keccak256(
            abi.encode(
                typehash,
                keccak256(abi.encodePacked(permissions)),
                permit.spender,
                permit.nonce,
                permit.deadline,
                orderHash
            )
        );
        return keccak256(abi.encodePacked(hex"1901", IDomain(PERMIT2).DOMAIN_SEPARATOR(), structHash));
    }

    // ---------------------------------------------------------------- sending

    function _send(Sweep memory s) internal {
        vm.prank(s.sender);
        v5.sweep(
            s.legs,
            s.order,
            s.authorization,
            s.authorizationSignature,
            s.permitNonce,
            s.permitDeadline,
            s.permitSignature
        );
    }

    function _expectRevert(Sweep memory s, bytes memory reason) internal {
        vm.expectRevert(reason);
        _send(s);
    }
}
