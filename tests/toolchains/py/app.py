"""All three hooks in Python, so that the WIT stays one that Python's generator can read.

What it decides is what the JavaScript listener beside it decides.
"""

import gc
import json

from wit_world import exports
from wit_world.exports import after_call, before_call, grant
from wit_world.imports import config, log, state, types


# Arguments of some length, with the characters that take another path through a parser.
SAMPLE = json.dumps({"refuse": None, "content": 'a "text"\n' * 200, "list": [1, 0.5, True, None]})


class Prepare(exports.Prepare):
    """Does ahead of an event what the first event would be slow for."""

    def prepare(self) -> int:
        # An instance lives for one event, so there is nothing to collect, and what a collection would look at is touched.
        gc.freeze()
        gc.disable()
        for _ in range(4):
            json.loads(SAMPLE)
        # The interpreter specialises a function after some calls of it.
        return 8


class Grant(exports.Grant):
    """A reader keeps what a pattern says; the others keep what they had."""

    def decide(self, caller: types.Caller) -> grant.Decision:
        if "reader" not in caller.roles:
            return grant.Decision_Abstain()
        patterns = json.loads(config.get("reader") or '["*read*"]')
        return grant.Decision_Narrow(grant.Narrowing(identifiers=[], patterns=patterns, excluding=[], reusable_ms=0))


class BeforeCall(exports.BeforeCall):
    """Denies when the arguments ask for it."""

    def decide(self, call: types.ToolCall, row: types.Row) -> before_call.Verdict:
        if not isinstance(call.arguments, types.Payload_Text):
            return before_call.Verdict_Deny(before_call.Denial("The arguments are too large to judge.", None))
        refuse = json.loads(call.arguments.value).get("refuse")
        if not isinstance(refuse, str):
            return before_call.Verdict_Proceed()
        return before_call.Verdict_Deny(before_call.Denial(refuse, f"asked for, calling {row.identifier}"))


class AfterCall(exports.AfterCall):
    """Counts the calls."""

    def notify(self, report: after_call.Report) -> None:
        count = state.increment("calls", 1, None)
        ending = type(report.ending).__name__.removeprefix("Ending_").lower()
        log.write(log.Level.INFO, f"call {count}: {report.call.identifier} ended as {ending}")
