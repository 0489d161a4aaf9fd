"""The links of the OpenAPI document: from the answers that name a new id to the operations that take one."""

import re
from typing import Any

_PATH_PARAMETER = re.compile(r"{(\w+)}")
# Where operations answer the value of a path parameter of others; of a list, it is that of its first item.
_SOURCES = {
    "sweep_id": {
        "buildSweep": "/sweepId",
        "buildSolanaSweep": "/sweepId",
        "listSweeps": "/items/0/sweepId",
        "listSweepsV1": "/items/0/sweepId",
    },
    "month": {"getStatement": "/month"},
    "webhook_id": {"createWebhook": "/endpoint/id", "listWebhooks": "/items/0/id"},
}


def add_links(paths: dict[str, Any]) -> None:
    """Link each source with every operation of its version of the API whose path has the parameter."""
    for path, operations in paths.items():
        for operation in operations.values():
            for parameter, sources in _SOURCES.items():
                if operation["operationId"] in sources:
                    links = _links(paths, _version(path), parameter, sources[operation["operationId"]])
                    for status, response in operation["responses"].items():
                        if status.startswith("2"):
                            response["links"] = links


def _links(paths: dict[str, Any], version: str, parameter: str, pointer: str) -> dict[str, Any]:
    return {
        operation["operationId"]: {
            "operationId": operation["operationId"],
            "parameters": {parameter: f"$response.body#/data{pointer}"},
            "description": operation["summary"],
        }
        for path, operations in paths.items()
        if _version(path) == version and parameter in _PATH_PARAMETER.findall(path)
        for operation in operations.values()
    }


def _version(path: str) -> str:
    return path.split("/")[1]
