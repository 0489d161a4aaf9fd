"""The functions and events of OpenZeppelin's ``AccessManager`` that a deployment uses.

Source: ``@openzeppelin/contracts`` 5.7, ``access/manager/IAccessManager.sol``.
"""

from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import keccak_hex

GET_ACCESS = Function("getAccess(uint64,address)", "(uint48,uint32,uint32,uint48)")
GET_ROLE_ADMIN = Function("getRoleAdmin(uint64)", "(uint64)")
GET_ROLE_GUARDIAN = Function("getRoleGuardian(uint64)", "(uint64)")
GET_ROLE_GRANT_DELAY = Function("getRoleGrantDelay(uint64)", "(uint32)")
GET_TARGET_FUNCTION_ROLE = Function("getTargetFunctionRole(address,bytes4)", "(uint64)")
GET_TARGET_ADMIN_DELAY = Function("getTargetAdminDelay(address)", "(uint32)")
IS_TARGET_CLOSED = Function("isTargetClosed(address)", "(bool)")
GET_SCHEDULE = Function("getSchedule(bytes32)", "(uint48)")

EXECUTE = Function("execute(address,bytes)")
GRANT_ROLE = Function("grantRole(uint64,address,uint32)")
RENOUNCE_ROLE = Function("renounceRole(uint64,address)")
SET_ROLE_GUARDIAN = Function("setRoleGuardian(uint64,uint64)")
SET_TARGET_FUNCTION_ROLE = Function("setTargetFunctionRole(address,bytes4[],uint64)")
MULTICALL = Function("multicall(bytes[])")

ROLE_GRANTED_TOPIC = keccak_hex(b"RoleGranted(uint64,address,uint32,uint48,bool)")
FUNCTION_ROLE_TOPIC = keccak_hex(b"TargetFunctionRoleUpdated(address,bytes4,uint64)")
SCHEDULED_TOPIC = keccak_hex(b"OperationScheduled(bytes32,uint32,uint48,address,address,bytes)")
