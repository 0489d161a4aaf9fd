// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessManager} from "@openzeppelin/contracts/access/manager/IAccessManager.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {Test} from "forge-std/Test.sol";
import {IWrappedNative} from "../../src/interfaces/IWrappedNative.sol";
import {IPositionManager, ISwapRouter02, IUniswapV2Factory, IUniswapV2Pair} from "./Uniswap.sol";

interface IMintable {
    function mint(address to, uint256 amount) external;
}

/// @title World
/// @notice The real environment of a sweep: Permit2 at its canonical address, Uniswap V2 and V3 with their router,
/// pools with liquidity, and the tokens that the tests sweep. Our own contracts are deployed from build artifacts, too,
/// and never imported: the tested bytecode is the deployed one, and tests may be compiled with other settings.
abstract contract World is Test {
    using SafeERC20 for IERC20;

    address internal constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;
    address internal constant DETERMINISTIC_DEPLOYER = 0x4e59b44847b379578588920cA78FbF26c0B4956C;
    bytes32 internal constant PERMIT2_SALT = 0x0000000000000000000000000000000000000000d3af2663da51c10215000000;
    uint24 internal constant POOL_FEE = 3000;
    uint256 internal constant POOL_WETH = 1_000e18;
    uint256 internal constant POOL_TOKENS = 2_000_000; // whole tokens of each kind: one WETH is worth 2,000 of them

    IWrappedNative internal weth;
    ISwapRouter02 internal router;
    IAccessManager internal manager;
    IUniswapV2Factory internal v2Factory;
    IPositionManager internal positions;

    IERC20 internal usdc; // 6 decimals
    IERC20 internal wbtc; // 8
    IERC20 internal dai; // 18
    IERC20 internal gusd; // 2
    IERC20 internal usdt; // 6, returns nothing, refuses to change a nonzero allowance
    IERC20 internal taxed; // 18, takes a transfer fee of 1 %

    function setUp() public virtual {
        _deployPermit2();
        string memory npm = "node_modules/@uniswap/";
        weth = IWrappedNative(_deploy(string.concat(npm, "v2-periphery/build/WETH9.json"), ""));
        address v2 = _deploy(string.concat(npm, "v2-core/build/UniswapV2Factory.json"), abi.encode(address(0)));
        string memory v3Core = string.concat(npm, "v3-core/artifacts/contracts/");
        string memory v3Periphery = string.concat(npm, "v3-periphery/artifacts/contracts/");
        address v3 = _deploy(string.concat(v3Core, "UniswapV3Factory.sol/UniswapV3Factory.json"), "");
        address positionManager = _deploy(
            string.concat(v3Periphery, "NonfungiblePositionManager.sol/NonfungiblePositionManager.json"),
            abi.encode(v3, weth, address(0))
        );
        router = ISwapRouter02(
            _deploy(
                string.concat(npm, "swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json"),
                abi.encode(v2, v3, positionManager, weth)
            )
        );
        v2Factory = IUniswapV2Factory(v2);
        positions = IPositionManager(positionManager);
        manager = IAccessManager(
            _deploy(
                "node_modules/@openzeppelin/contracts/build/contracts/AccessManager.json", abi.encode(address(this))
            )
        );

        usdc = _tokenWithPools("MintableToken", "USDC", 6);
        wbtc = _tokenWithPools("MintableToken", "WBTC", 8);
        dai = _tokenWithPools("MintableToken", "DAI", 18);
        gusd = _tokenWithPools("MintableToken", "GUSD", 2);
        usdt = _tokenWithPools("NoReturnToken", "USDT", 6);
        taxed = IERC20(deployCode(_artifact("TransferFeeToken"), abi.encode("TAXFEE", "TAXFEE", uint8(18))));
        _addV2Pool(taxed, address(weth), POOL_TOKENS * 1e18, POOL_WETH);
    }

    /// @dev Creates a token with a V2 and a V3 pool against the wrapped native token.
    function _tokenWithPools(string memory name, string memory symbol, uint8 decimals) internal returns (IERC20 token) {
        token = IERC20(deployCode(_artifact(name), abi.encode(symbol, symbol, decimals)));
        _addPools(token, POOL_TOKENS * 10 ** decimals);
    }

    function _addPools(IERC20 token, uint256 tokenAmount) internal {
        _addV2Pool(token, address(weth), tokenAmount, POOL_WETH);
        _addV3Pool(address(token), address(weth), tokenAmount, POOL_WETH);
    }

    function _addV2Pool(IERC20 token, address other, uint256 amount, uint256 otherAmount) internal {
        address pair = v2Factory.createPair(address(token), other);
        _fund(address(token), pair, amount);
        _fund(other, pair, otherAmount);
        IUniswapV2Pair(pair).mint(address(this));
    }

    /// @dev With liquidity at all prices, so that it fills any amount.
    function _addV3Pool(address tokenA, address tokenB, uint256 amountA, uint256 amountB)
        internal
        returns (address pool)
    {
        if (tokenA > tokenB) (tokenA, tokenB, amountA, amountB) = (tokenB, tokenA, amountB, amountA);
        uint160 sqrtPriceX96 = uint160(Math.sqrt(Math.mulDiv(amountB, 1 << 192, amountA)));
        pool = positions.createAndInitializePoolIfNecessary(tokenA, tokenB, POOL_FEE, sqrtPriceX96);
        _addV3Liquidity(tokenA, tokenB, amountA, amountB, 887_220);
    }

    /// @dev A pool at par with liquidity only close to that price: it can't fill more than `amount`.
    function _addThinPool(IERC20 tokenA, IERC20 tokenB, uint256 amount) internal returns (address pool) {
        (address token0, address token1) = (address(tokenA), address(tokenB));
        if (token0 > token1) (token0, token1) = (token1, token0);
        pool = positions.createAndInitializePoolIfNecessary(token0, token1, POOL_FEE, 1 << 96);
        if (amount != 0) _addV3Liquidity(token0, token1, amount, amount, 60);
    }

    function _addV3Liquidity(address token0, address token1, uint256 amount0, uint256 amount1, int24 ticks) private {
        _fund(token0, address(this), amount0);
        _fund(token1, address(this), amount1);
        IERC20(token0).forceApprove(address(positions), amount0);
        IERC20(token1).forceApprove(address(positions), amount1);
        positions.mint(
            IPositionManager.MintParams({
                token0: token0,
                token1: token1,
                fee: POOL_FEE,
                tickLower: -ticks,
                tickUpper: ticks,
                amount0Desired: amount0,
                amount1Desired: amount1,
                amount0Min: 0,
                amount1Min: 0,
                recipient: address(this),
                deadline: block.timestamp
            })
        );
    }

    function _token(string memory symbol, uint8 decimals) internal returns (IERC20) {
        return IERC20(deployCode(_artifact("MintableToken"), abi.encode(symbol, symbol, decimals)));
    }

    /// @dev Mints tokens, or wraps newly created native coin.
    function _fund(address token, address to, uint256 amount) internal {
        if (token == address(weth)) {
            vm.deal(address(this), amount);
            weth.deposit{value: amount}();
            if (to != address(this)) IERC20(token).safeTransfer(to, amount);
        } else {
            IMintable(token).mint(to, amount);
        }
    }

    /// @dev Deployed as on a real chain, so that its domain separator is for this chain; fixed runtime code would have
    /// another's.
    function _deployPermit2() private {
        bytes memory creationCode = vm.getCode("out/permit2/Permit2.sol/Permit2.json");
        (bool deployed,) = DETERMINISTIC_DEPLOYER.call(bytes.concat(PERMIT2_SALT, creationCode));
        assertTrue(deployed && PERMIT2.code.length != 0, "Permit2 did not land on its canonical address");
    }

    /// @dev One of our contracts in the current build, by name; also works in the coverage build.
    function _artifact(string memory name) internal pure returns (string memory) {
        return string.concat(name, ".sol:", name);
    }

    /// @dev For artifacts of npm packages, whose `bytecode` is a string with or without 0x.
    function _deploy(string memory artifact, bytes memory arguments) internal returns (address deployed) {
        bytes memory code = vm.parseBytes(vm.parseJsonString(vm.readFile(artifact), ".bytecode"));
        bytes memory creationCode = bytes.concat(code, arguments);
        assembly ("memory-safe") {
            deployed := create(0, add(creationCode, 0x20), mload(creationCode))
        }
        assertTrue(deployed != address(0), artifact);
    }
}
