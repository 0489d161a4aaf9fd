// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {IServiceBatchV5PartnerFees as IV5} from "../../src/interfaces/IServiceBatchV5PartnerFees.sol";
import {ISweepBatch} from "../../src/interfaces/ISweepBatch.sol";
import {IVenueList} from "../../src/interfaces/IVenueList.sol";
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
        ISweepBatch.Route route;
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

    uint16 internal constant V3 = 1; // ids of venues
    uint16 internal constant V2 = 2;
    uint256 internal constant JOINED = 1 << 40;
    uint256 internal constant SKIPPABLE = 1 << 41;
    uint256 internal constant DROPPED = 1 << 42;
    string internal constant ORDER_TYPE =
        "SweepOrder(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 totalFeeBps,bytes32 partnerId,uint256 authorizationNonce)";
    address internal constant NATIVE = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;
    bytes32 internal constant PARTNER_ID = keccak256("partner");
    bytes4 internal constant INVALID_SIGNER = bytes4(keccak256("InvalidSigner()")); // of Permit2

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
        _list(v5);
    }

    /// @dev Lists the venues and the router for a contract, as a deployment does.
    function _list(ISweepBatch batch) internal {
        batch.listVenue(V3, _v3Venue());
        batch.listVenue(V2, _v2Venue());
        batch.allowRouter(address(router), ISwapRouter02.exactInputSingle.selector, address(router));
        batch.allowRouter(address(router), ISwapRouter02.exactInput.selector, address(router));
        batch.allowRouter(address(router), ISwapRouter02.swapExactTokensForTokens.selector, address(router));
    }

    function _v3Venue() internal view returns (IVenueList.Venue memory) {
        return IVenueList.Venue({
            deployer: router.factory(),
            kind: IVenueList.PoolKind.V3,
            saltRule: IVenueList.SaltRule.PairAndFee,
            feeBps: 0,
            callback: bytes4(keccak256("uniswapV3SwapCallback(int256,int256,bytes)")),
            initCodeHash: 0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54
        });
    }

    function _v2Venue() internal view returns (IVenueList.Venue memory) {
        return IVenueList.Venue({
            deployer: router.factoryV2(),
            kind: IVenueList.PoolKind.V2,
            saltRule: IVenueList.SaltRule.PackedPair,
            feeBps: 30,
            callback: bytes4(keccak256("uniswapV2Call(address,uint256,uint256,bytes)")),
            initCodeHash: 0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f
        });
    }

    // ---------------------------------------------------------------- routes

    /// @dev A swap in the V3 0.3 % pool, straight to the output.
    function _v3Leg(IERC20 token, uint256 amount) internal returns (ISweepBatch.Leg memory) {
        return _leg(token, amount, _hop(V3, POOL_FEE));
    }

    function _v2Leg(IERC20 token, uint256 amount) internal returns (ISweepBatch.Leg memory) {
        return _leg(token, amount, _hop(V2, 0));
    }

    /// @dev A swap to the wrapped native token, for the last hop.
    function _joinedLeg(IERC20 token, uint256 amount) internal returns (ISweepBatch.Leg memory) {
        return _leg(token, amount, _hop(V3, POOL_FEE) | JOINED | 1 << 128);
    }

    /// @dev The wrapped native token, which needs no swap of its own.
    function _wethLeg(uint256 amount) internal returns (ISweepBatch.Leg memory) {
        return _leg(weth, amount, 0);
    }

    /// @dev Gives the user the leg's tokens and approves Permit2, as wallets do once per token.
    function _leg(IERC20 token, uint256 amount, uint256 hop) internal returns (ISweepBatch.Leg memory) {
        _give(user, address(token), amount);
        return ISweepBatch.Leg(address(token), amount, 1, hop);
    }

    function _hop(uint16 venue, uint24 fee) internal pure returns (uint256) {
        return fee | uint256(venue) << 24;
    }

    /// @dev The bits of a hop for a price limit of `number * 2^shift`.
    function _priceLimit(uint256 number, uint256 shift) internal pure returns (uint256) {
        return number << 43 | shift << 65;
    }

    /// @dev A swap of leg `leg` through the router, in the V3 0.3 % pool.
    function _v3Call(uint256 leg, IERC20 token, address output, uint256 amount, address recipient)
        internal
        view
        returns (ISweepBatch.RouterCall memory)
    {
        bytes memory data = abi.encodeCall(
            ISwapRouter02.exactInputSingle,
            (ISwapRouter02.ExactInputSingleParams({
                    tokenIn: address(token),
                    tokenOut: output,
                    fee: POOL_FEE,
                    recipient: recipient,
                    amountIn: amount,
                    amountOutMinimum: 1,
                    sqrtPriceLimitX96: 0
                }))
        );
        return ISweepBatch.RouterCall(leg, address(router), data);
    }

    /// @dev A swap of leg `leg` through the router and V3 pools, by way of the wrapped native token.
    function _v3PathCall(uint256 leg, IERC20 token, IERC20 output, uint256 amount)
        internal
        view
        returns (ISweepBatch.RouterCall memory)
    {
        bytes memory path = abi.encodePacked(token, POOL_FEE, weth, POOL_FEE, output);
        bytes memory data =
            abi.encodeCall(ISwapRouter02.exactInput, (ISwapRouter02.ExactInputParams(path, address(v5), amount, 1)));
        return ISweepBatch.RouterCall(leg, address(router), data);
    }

    /// @dev A swap of leg `leg` through the router and V2 pairs.
    function _v2Call(uint256 leg, address[] memory path, uint256 amount, address recipient)
        internal
        view
        returns (ISweepBatch.RouterCall memory)
    {
        bytes memory data = abi.encodeCall(ISwapRouter02.swapExactTokensForTokens, (amount, 1, path, recipient));
        return ISweepBatch.RouterCall(leg, address(router), data);
    }

    function _route(ISweepBatch.Leg[] memory legs) internal pure returns (ISweepBatch.Route memory route) {
        route.legs = legs;
    }

    /// @dev A route whose joined legs are swapped into the output in the last hop.
    function _joinedRoute(ISweepBatch.Leg[] memory legs, uint256 lastHop)
        internal
        pure
        returns (ISweepBatch.Route memory route)
    {
        (route.legs, route.lastHop) = (legs, lastHop);
    }

    /// @dev A route of one router leg.
    function _routerRoute(ISweepBatch.Leg memory leg, ISweepBatch.RouterCall memory routerCall)
        internal
        pure
        returns (ISweepBatch.Route memory route)
    {
        route.legs = _legs(leg);
        route.routerCalls = new ISweepBatch.RouterCall[](1);
        route.routerCalls[0] = routerCall;
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

    function _legs(ISweepBatch.Leg memory a, ISweepBatch.Leg memory b, ISweepBatch.Leg memory c)
        internal
        pure
        returns (ISweepBatch.Leg[] memory legs)
    {
        legs = new ISweepBatch.Leg[](3);
        (legs[0], legs[1], legs[2]) = (a, b, c);
    }

    function _calls(ISweepBatch.RouterCall memory a, ISweepBatch.RouterCall memory b)
        internal
        pure
        returns (ISweepBatch.RouterCall[] memory calls)
    {
        calls = new ISweepBatch.RouterCall[](2);
        (calls[0], calls[1]) = (a, b);
    }

    /// @dev A token's pool with the wrapped native token.
    function _pool(uint16 venue, IERC20 token) internal view returns (address) {
        return v5.poolAddress(venue, address(token), address(weth), venue == V3 ? POOL_FEE : 0);
    }

    /// @dev 1,000 USDC to the wrapped native token in a V3 pool: the sweep that most tests start from.
    function _usdcSweep() internal returns (Sweep memory) {
        return _sweep(_route(_legs(_v3Leg(usdc, 1_000e6))), address(weth));
    }

    /// @dev The same through the router.
    function _usdcRouterSweep() internal returns (Sweep memory) {
        ISweepBatch.RouterCall memory call = _v3Call(0, usdc, address(weth), 1_000e6, address(v5));
        return _sweep(_routerRoute(_leg(usdc, 1_000e6, 0), call), address(weth));
    }

    // ---------------------------------------------------------------- orders and signatures

    /// @dev A sweep on the usual terms, signed by both: a fee of 75 bps, of which the partner receives 40 %.
    function _sweep(ISweepBatch.Route memory route, address outputToken) internal view returns (Sweep memory s) {
        s.sender = user;
        s.route = route;
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
        _signRoute(s);
        s.permitSignature = _signature(userKey, _permitDigest(s));
    }

    /// @dev What the service signs.
    function _signRoute(Sweep memory s) internal view {
        s.authorization.legsHash = keccak256(abi.encode(s.route));
        _signAuthorization(s);
    }

    function _signAuthorization(Sweep memory s) internal view {
        s.authorizationSignature = _signature(signerKey, v5.hashAuthorization(s.authorization));
    }

    function _signature(uint256 key, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(key, digest);
        return abi.encodePacked(r, s, v);
    }

    function _permitDigest(Sweep memory s) internal view returns (bytes32) {
        Permit memory permit = Permit(address(v5), s.permitNonce, s.permitDeadline);
        return _permitDigest(s.route.legs, permit, "SweepOrder witness)", ORDER_TYPE, _orderHash(s));
    }

    function _orderHash(Sweep memory s) internal pure returns (bytes32) {
        IV5.FeeAuthorization memory a = s.authorization;
        return keccak256(
            abi.encode(
                keccak256(bytes(ORDER_TYPE)),
                a.outputToken,
                _floorsHash(s.route.legs),
                s.route.maxSkipped,
                a.totalFeeBps,
                a.partnerId,
                a.nonce
            )
        );
    }

    function _floorsHash(ISweepBatch.Leg[] memory legs) internal pure returns (bytes32) {
        uint256[] memory floors = new uint256[](legs.length);
        for (uint256 i = 0; i < legs.length; ++i) {
            floors[i] = legs[i].floor;
        }
        return keccak256(abi.encodePacked(floors));
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
        v5.sweep(s.route, s.authorization, s.authorizationSignature, s.permitNonce, s.permitDeadline, s.permitSignature);
    }

    function _sendWith(Sweep memory s, ISweepBatch.TokenPermit[] memory permits) internal {
        vm.prank(s.sender);
        v5.sweepWithPermits(
            s.route,
            s.authorization,
            s.authorizationSignature,
            permits,
            s.permitNonce,
            s.permitDeadline,
            s.permitSignature
        );
    }

    function _dataOf(Sweep memory s) internal view returns (bytes memory) {
        return abi.encodeCall(
            v5.sweep,
            (s.route, s.authorization, s.authorizationSignature, s.permitNonce, s.permitDeadline, s.permitSignature)
        );
    }

    function _pullFailed(bytes4 selector) internal pure returns (bytes memory) {
        return _pullFailed(abi.encodeWithSelector(selector));
    }

    function _pullFailed(bytes memory reason) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.PullFailed.selector, reason);
    }

    function _legFailed(uint256 leg, address target, bytes memory reason) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.LegFailed.selector, leg, target, reason);
    }

    function _text(string memory message) internal pure returns (bytes memory) {
        return abi.encodeWithSignature("Error(string)", message);
    }

    function _belowLeast(uint256 leg, uint256 got, uint256 least) internal pure returns (bytes memory) {
        return abi.encodeWithSelector(ISweepBatch.BelowLeast.selector, leg, got, least);
    }

    function _expectRevert(Sweep memory s, bytes memory reason) internal {
        vm.expectRevert(reason);
        _send(s);
    }
}
