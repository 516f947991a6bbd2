"""Runs a list of steps against an MCP server on the Python SDK's client and prints one JSON line for each answer.

    client.py [--mode auto|legacy|REVISION] --steps JSON -- COMMAND [ARGUMENT...]

A step is one of
    {"server": true}                                      what was negotiated
    {"list": true}                                        every page of tools/list
    {"call": NAME, "arguments": {...}, "meta": {...}}     tools/call; arguments and meta may be left out
    {"together": [STEP...]}                               these at once; one line, in the order of the steps

An answer is {"server": ...}, {"tools": [...]}, {"result": {...}}, {"error": {"code": ..., "message": ...}}, or, where the
client itself gave up, {"exception": "..."}.
"""

import argparse
import asyncio
import json
import sys

from mcp import Client, MCPError, StdioServerParameters
from mcp.types import Tool


def plain(model) -> dict:
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


async def every_tool(client: Client) -> list[Tool]:
    tools, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        tools += page.tools
        cursor = page.next_cursor
        if cursor is None:
            return tools


async def answer(client: Client, step: dict) -> dict:
    try:
        if "together" in step:
            return {"together": await asyncio.gather(*(answer(client, one) for one in step["together"]))}
        if "server" in step:
            return {"server": plain(client.server_info), "protocol": client.protocol_version}
        if "list" in step:
            return {"tools": [plain(tool) for tool in await every_tool(client)]}
        result = await client.call_tool(step["call"], step.get("arguments", {}), meta=step.get("meta"))
        return {"result": plain(result)}
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}
    except Exception as error:  # noqa: BLE001 - whatever the client raises is the answer under test
        return {"exception": f"{type(error).__name__}: {error}"}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--steps", required=True)
    parser.add_argument("command", nargs="+")
    given = parser.parse_args()
    server = StdioServerParameters(command=given.command[0], args=given.command[1:])
    async with Client(server, mode=given.mode, cache=None) as client:
        for step in json.loads(given.steps):
            print(json.dumps(await answer(client, step), ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
