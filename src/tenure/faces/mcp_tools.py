"""Tools of MCP servers for agents: what a host imports. The SDK is imported when a pool is opened."""

from tenure.runtime.errors import McpUnavailable
from tenure.runtime.mcp.pool import McpPool
from tenure.runtime.mcp.server import HttpServer, McpServer, StdioServer

__all__ = ["HttpServer", "McpPool", "McpServer", "McpUnavailable", "StdioServer"]
