// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {HostilePool, PoolScript} from "./HostilePools.sol";

/// @title Pool scripts
/// @notice What hostile pools do when a sweep calls them. Parameters are immutable, since a script runs in the storage of
/// its pool.

/// @notice Calls back a second time and continues whatever the answer is.
contract CallsBackTwice is PoolScript {
    function _serveV3(uint256 amount, bytes memory data) internal override {
        super._serveV3(amount, data);
        _callBackV3(int256(amount), -int256(payout), data);
    }

    function _serveV2(uint256 amount0Out, uint256 amount1Out, bytes memory data) internal override {
        super._serveV2(amount0Out, amount1Out, data);
        _callBack(_v2Call(amount0Out, amount1Out, data));
    }
}

/// @notice Takes nothing and returns as if all had gone well.
contract NeverCallsBack is PoolScript {
    function swap(address, bool, int256, uint160, bytes calldata) external pure override returns (int256, int256) {
        return (0, 0);
    }

    function swap(uint256, uint256, address, bytes calldata) external override {}
}

/// @notice Pays and returns without calling back, and does so when it is asked to.
contract CallsBackLate is PoolScript {
    address private caller; // behind the state of the pool
    bytes private callback;

    function resume() external {
        (bool success, bytes memory answer) = caller.call(callback);
        if (!success) _raise(answer);
    }

    function swap(address recipient, bool, int256 amount, uint160, bytes calldata data)
        external
        override
        returns (int256, int256)
    {
        require(tokenOut.transfer(recipient, payout));
        (caller, callback) = (msg.sender, _v3Call(amount, -int256(payout), data));
        return (0, 0);
    }
}

/// @notice Reports other amounts than it takes and pays.
contract OtherAmounts is PoolScript {
    int256 private immutable OWED;
    int256 private immutable PAID;

    constructor(int256 owed, int256 paid) {
        (OWED, PAID) = (owed, paid);
    }

    function _serveV3(uint256, bytes memory data) internal override {
        _mustSucceed(_callBackV3(OWED, PAID, data));
    }
}

/// @notice Keeps a copy of the data that it is given.
contract RecordsData is PoolScript {
    function _serveV3(uint256 amount, bytes memory data) internal override {
        responses.push(data);
        super._serveV3(amount, data);
    }
}

/// @notice Returns the data with one word changed; ignores the answer if it is told to.
contract RewritesData is PoolScript {
    uint256 private immutable OFFSET;
    bytes32 private immutable WORD;
    bool private immutable GOES_ON;

    constructor(uint256 offset, bytes32 word, bool goesOn) {
        (OFFSET, WORD, GOES_ON) = (offset, word, goesOn);
    }

    function _serveV3(uint256 amount, bytes memory data) internal override {
        bool success = _callBackV3(int256(amount), -int256(payout), _rewritten(data));
        if (!GOES_ON) return _mustSucceed(success);
        _mustSucceed(_callBackV3(int256(amount), -int256(payout), data));
    }

    function _serveV2(uint256 amount0Out, uint256 amount1Out, bytes memory data) internal override {
        _mustSucceed(_callBack(_v2Call(amount0Out, amount1Out, _rewritten(data))));
    }

    function _rewritten(bytes memory data) private view returns (bytes memory changed) {
        (uint256 offset, bytes32 word) = (OFFSET, WORD);
        changed = abi.encodePacked(data);
        assembly ("memory-safe") {
            mstore(add(add(changed, 0x20), offset), word)
        }
    }
}

/// @notice Returns more or less data than it was given.
contract ResizesData is PoolScript {
    uint256 private immutable LENGTH;

    constructor(uint256 length) {
        LENGTH = length;
    }

    function _serveV3(uint256 amount, bytes memory data) internal override {
        bytes memory resized = new bytes(LENGTH);
        for (uint256 i = 0; i < LENGTH && i < data.length; ++i) {
            resized[i] = data[i];
        }
        _mustSucceed(_callBackV3(int256(amount), -int256(payout), resized));
    }
}

/// @notice Returns data that it stored in an earlier sweep.
contract ReplaysData is PoolScript {
    bytes private stored; // behind the state of the pool

    function _serveV3(uint256 amount, bytes memory data) internal override {
        bool isFirst = stored.length == 0;
        if (isFirst) stored = data;
        _mustSucceed(_callBackV3(int256(amount), -int256(payout), stored));
    }
}

/// @notice Keeps what it was paid for and pays nothing.
contract PaysNothing is PoolScript {
    function swap(address, bool, int256 amount, uint160, bytes calldata data)
        external
        override
        returns (int256, int256)
    {
        _serveV3(uint256(amount), data);
        return _deltas(int256(amount), -int256(payout));
    }
}

/// @notice Ignores that its callback reverts.
contract CatchesReverts is PoolScript {
    function swap(address, bool, int256 amount, uint160, bytes calldata data)
        external
        override
        returns (int256, int256)
    {
        _callBackV3(amount, -int256(payout), data);
        return (0, 0);
    }
}

/// @notice Reverts with a given reason, before or after it calls back, or when it is asked for its reserves.
contract RevertsWith is PoolScript {
    enum Moment {
        BeforeCallback,
        AfterCallback,
        GetReserves
    }

    Moment private immutable MOMENT;
    RevertsWith private immutable SELF;
    bytes private reason; // of this contract, not of the pool

    constructor(Moment moment, bytes memory reason_) {
        (MOMENT, SELF, reason) = (moment, this, reason_);
    }

    function storedReason() external view returns (bytes memory) {
        return reason;
    }

    function getReserves() external view override returns (uint112, uint112, uint32) {
        if (MOMENT == Moment.GetReserves) _raise(SELF.storedReason());
        return (1e20, 1e20, 0);
    }

    function _serveV3(uint256 amount, bytes memory data) internal override {
        if (MOMENT == Moment.AfterCallback) super._serveV3(amount, data);
        _raise(SELF.storedReason());
    }

    function _serveV2(uint256 amount0Out, uint256 amount1Out, bytes memory data) internal override {
        if (MOMENT == Moment.AfterCallback) super._serveV2(amount0Out, amount1Out, data);
        _raise(SELF.storedReason());
    }
}

/// @notice Returns or reverts with as much data as it can afford.
contract ReturnBomb is PoolScript {
    bool private immutable REVERTS;
    uint256 private constant SIZE = 400_000;

    constructor(bool reverts) {
        REVERTS = reverts;
    }

    function swap(address recipient, bool, int256 amount, uint160, bytes calldata data)
        external
        override
        returns (int256, int256)
    {
        require(tokenOut.transfer(recipient, payout));
        _serveV3(uint256(amount), data);
        bool reverts = REVERTS;
        assembly ("memory-safe") {
            if reverts { revert(0, SIZE) }
            return(0, SIZE)
        }
    }
}

/// @notice Has another pool call back in its place, with its data.
contract SendsAnother is PoolScript {
    HostilePool private immutable OTHER;

    constructor(HostilePool other) {
        OTHER = other;
    }

    function _serveV3(uint256 amount, bytes memory data) internal override {
        bytes memory call = _v3Call(int256(amount), -int256(payout), data);
        Accomplice(address(OTHER)).callOnBehalf(msg.sender, call);
        super._serveV3(amount, data);
    }
}

/// @notice A pool that also calls whatever an accomplice asks it to.
contract Accomplice is PoolScript {
    function callOnBehalf(address target, bytes calldata call) external {
        (bool success, bytes memory answer) = target.call(call);
        responses.push(success ? bytes("") : answer);
    }
}

/// @notice Makes calls before and after its callback, for example swaps in other pools of the sweep.
contract CallsAround is PoolScript {
    struct Call {
        address target;
        bytes data;
    }

    CallsAround private immutable SELF;
    Call[] private before; // of this contract, not of the pool
    Call[] private behind;

    constructor() {
        SELF = this;
    }

    function addBefore(address target, bytes calldata data) external {
        before.push(Call(target, data));
    }

    function addBehind(address target, bytes calldata data) external {
        behind.push(Call(target, data));
    }

    function storedCalls() external view returns (Call[] memory, Call[] memory) {
        return (before, behind);
    }

    function _serveV3(uint256 amount, bytes memory data) internal override {
        (Call[] memory first, Call[] memory last) = SELF.storedCalls();
        _callAll(first);
        super._serveV3(amount, data);
        _callAll(last);
    }

    function _callAll(Call[] memory calls) private {
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool success, bytes memory answer) = calls[i].target.call(calls[i].data);
            responses.push(success ? bytes("") : answer);
        }
    }
}
