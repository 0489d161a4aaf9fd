"""The Python client, blocking and awaited, and its MCP server."""
