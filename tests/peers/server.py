"""An MCP server on the Python SDK's standard input and output.

Its tools show what a test can not see from outside: that a tool ran, how often, and that it is running now.
"""

import asyncio
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("python-peer", version="1.0.0")


class Sum(BaseModel):
    """The output schema that `add` promises."""

    total: int


@server.tool(structured_output=False)
def greet(name: str, greeting: str = "Hello") -> str:
    """Greets somebody."""
    return f"{greeting}, {name}!"


@server.tool()
def add(a: int, b: int) -> Sum:
    """Adds two integers and promises an output schema."""
    return Sum(total=a + b)


@server.tool(structured_output=False)
def record(path: str, line: str) -> str:
    """Appends a line to a file, so that runs can be counted."""
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return f"recorded {line}"


@server.tool(structured_output=False)
async def slow(started: str, release: str, ctx: Context) -> str:
    """Creates the file `started`, reports progress, and replies once the file `release` exists."""
    with Path(started).open("a", encoding="utf-8") as file:
        file.write("started\n")
    await ctx.report_progress(1, 2, "waiting")
    while not Path(release).exists():
        await asyncio.sleep(0.01)
    return "released"


@server.tool(structured_output=False)
def fail(reason: str = "as asked") -> str:
    """Raises."""
    raise RuntimeError(reason)


if __name__ == "__main__":
    server.run()
