// All three hooks in JavaScript, so that the WIT stays one that JavaScript's generators can read. What it decides is what
// the Python listener beside it decides. It is built twice, for two engines.

import { get } from "callgate:host/config@0.1.0";
import { write } from "callgate:host/log@0.1.0";
import { increment } from "callgate:host/state@0.1.0";

// Arguments of some length, with the characters that take another path through a parser.
const SAMPLE = JSON.stringify({ refuse: null, content: 'a "text"\n'.repeat(200), list: [1, 0.5, true, null] });

export const prepare = {
  // An engine that interprets is slow until it has seen a piece of code a few times, and so is memory that was never touched.
  prepare() {
    for (let round = 0; round < 4; round++) JSON.parse(SAMPLE);
    return 8;
  },
};

export const grant = {
  // A reader keeps what a pattern says; the others keep what they had.
  decide(caller) {
    if (!caller.roles.includes("reader")) return { tag: "abstain" };
    const patterns = JSON.parse(get("reader") ?? '["*read*"]');
    return { tag: "narrow", val: { identifiers: [], patterns, excluding: [], reusableMs: 0 } };
  },
};

export const beforeCall = {
  // Denies when the arguments ask for it.
  decide(call, row) {
    if (call.arguments.tag !== "text") return { tag: "deny", val: { reason: "The arguments are too large to judge." } };
    const { refuse } = JSON.parse(call.arguments.val);
    if (typeof refuse !== "string") return { tag: "proceed" };
    return { tag: "deny", val: { reason: refuse, privateReason: `asked for, calling ${row.identifier}` } };
  },
};

export const afterCall = {
  // Counts the calls.
  notify(report) {
    const count = increment("calls", 1, undefined);
    write("info", `call ${count}: ${report.call.identifier} ended as ${report.ending.tag}`);
  },
};
