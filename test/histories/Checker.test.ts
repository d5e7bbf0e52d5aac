/** Each rule with the smallest history that breaks it, and one that does not. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as Checker from "./Checker.js"
import * as History from "./History.js"

const alice = "a".repeat(40)
const bob = "b".repeat(40)

const at = (began: number, node = "0") => ({ node, began, ended: began + 1, floor: null, commit: null })
const payment = (nonce: number, amount = 100) => ({
  hash: `${nonce}${amount}`.padEnd(64, "0"),
  ...{ from: alice, to: bob, amount, fee: 10, nonce },
})
const first = payment(0)
const second = payment(1)
const third = payment(2)

const genesis: History.Line = { kind: "genesis", accounts: { [alice]: 1_000, [bob]: 0 } }
const submit = (began: number, transaction = first): History.Line => ({
  ...{ kind: "submit", ...at(began), transaction, answer: "accepted" },
})
const outcome = { round: 7, vertex: "v", timestamp: 70, applied: true, failure: null }
const final = (began: number, { hash } = first, node = "0", more = {}): History.Line => ({
  ...{ kind: "lookup", ...at(began, node), hash, found: { status: "finalized", ...outcome, ...more } },
})
const missing = (began: number, node = "0", reason: string | null = null): History.Line => ({
  ...{ kind: "lookup", ...at(began, node), hash: first.hash, found: { status: "missing", reason } },
})
const balance = (began: number, own: number, nonce: number, node = "0", nextNonce = nonce): History.Line => ({
  ...{ kind: "balance", ...at(began, node), address: alice, balance: own, nonce, nextNonce },
})
const statement = (began: number, transactions: ReadonlyArray<typeof first>, of = alice): History.Line => ({
  ...{ kind: "statement", ...at(began), address: of },
  isWhole: true,
  balance: of === alice ? 1_000 - 110 * transactions.length : 100 * transactions.length,
  entries: transactions
    .map(({ hash }) => ({ hash, kind: of === alice ? "sent" : "received", change: of === alice ? -110 : 100 }) as const)
    .reverse(),
})
const event = (when: number, { hash } = first, node = "0", run = 1): History.Line => ({
  ...{ kind: "event", node, at: when, run, hash, applied: true },
})
const status = (began: number, round: number, supply: number, node = "0"): History.Line => ({
  ...{ kind: "status", ...at(began, node), round, supply },
})
const fault = (when: number, name: string): History.Line => ({ kind: "fault", at: when, fault: name, node: "0" })
const signed = (when: number, vertex: string, node = "0", round = 7): History.Line => ({
  ...{ kind: "signed", at: when, node, validator: alice, epoch: 1, round, vertex },
})
const settled: History.Line = { kind: "settled", at: 900 }

const sent = [submit(1), submit(1, second), submit(1, third)]
const listed = statement(800, [first, second, third])
const all = [genesis, ...sent, listed]

const rulesOf = (history: History.History): ReadonlyArray<string> => [
  ...new Set(Checker.judge(history).map(({ rule }) => rule)),
]

const good: ReadonlyArray<readonly [what: string, history: History.History]> = [
  ["nothing", []],
  ["a history that was broken off before anybody asked for statements", [genesis, submit(1), balance(3, 890, 1)]],
  [
    "a payment and all that is said of it",
    [
      ...[
        genesis,
        submit(1),
        balance(3, 1_000, 0, "0", 1),
        event(5),
        final(6),
        balance(8, 890, 1),
        final(10, first, "1"),
      ],
      ...[statement(12, [first]), statement(14, [first], bob), status(16, 9, 500), status(16, 9, 500, "1"), settled],
    ],
  ],
  [
    "another node that is behind",
    [...all, final(3), missing(6, "1"), balance(8, 890, 1, "0", 3), balance(10, 1_000, 0, "1")],
  ],
  ["two questions at the same time", [...all, balance(3, 890, 1, "0", 3), balance(3, 1_000, 0, "0", 3)]],
  ["a node taken back to an older disk", [...all, final(3), fault(5, "restore"), missing(7), balance(9, 1_000, 0)]],
  [
    "a transaction that only cost its fee",
    [
      genesis,
      submit(1),
      final(3, first, "0", { applied: false, failure: "InsufficientBalance" }),
      balance(5, 990, 1),
      { ...statement(7, []), balance: 990, entries: [{ hash: first.hash, kind: "sent", change: -10 }] } as History.Line,
    ],
  ],
  ["one that ended with a reason", [genesis, submit(1), missing(9, "0", "nonce used"), settled]],
  [
    "one that was replaced",
    [
      genesis,
      submit(1),
      submit(1, payment(0, 200)),
      final(3, payment(0, 200)),
      {
        ...statement(5, []),
        balance: 790,
        entries: [{ hash: payment(0, 200).hash, kind: "sent", change: -210 }],
      } as History.Line,
      {
        ...statement(5, [], bob),
        balance: 200,
        entries: [{ hash: payment(0, 200).hash, kind: "received", change: 200 }],
      } as History.Line,
      settled,
    ],
  ],
  [
    "a run of events that begins later",
    [...all, event(3), event(4, second), event(5, second, "1"), event(6, third, "1")],
  ],
  [
    "the first page of a statement",
    [...all, { ...statement(5, [second]), balance: 780, isWhole: false } as History.Line, balance(7, 780, 2, "0", 3)],
  ],
  ["an accepted one that a kill took", [genesis, submit(1), fault(5, "kill"), missing(9)]],
  ["an accepted one, at a node that took it back with its disk", [genesis, submit(1), fault(5, "restore"), missing(9)]],
  ["an accepted one, at another node", [genesis, submit(1), missing(9, "1"), balance(9, 1_000, 0, "1")]],
  ["vertices of two slots, and one that two nodes show", [signed(3, "v"), signed(4, "v", "1"), signed(5, "w", "0", 8)]],
  ["a reset between two runs", [...all, event(3), event(4, third, "0", 2)]],
]

const bad: ReadonlyArray<readonly [rule: string, what: string, history: History.History]> = [
  ["changed", "another round", [...all, final(3), final(3, first, "1", { round: 8 })]],
  [
    "changed",
    "an event that disagrees",
    [...all, final(3, first, "0", { applied: true }), { ...event(4), applied: false } as History.Line],
  ],
  ["disappeared", "a final one at the same node", [...all, final(3), missing(6)]],
  ["disappeared", "a final one after a kill", [...all, final(3), fault(5, "kill"), missing(6)]],
  [
    "disappeared",
    "a final one at another gateway that was asked as of that commit",
    [...all, { ...final(3), commit: 5 } as History.Line, { ...missing(6, "1"), floor: 5, commit: 5 } as History.Line],
  ],
  ["behind", "a node that never hears of a final one", [...all, final(3), missing(6, "1"), settled]],
  ["from nowhere", "a final one that nobody sent", [genesis, final(3)]],
  ["twice", "two of one nonce", [...all, submit(1, payment(0, 200)), final(3), final(3, payment(0, 200))]],
  ["twice", "one event twice in a run", [...all, event(3), event(4)]],
  ["twice", "one twice in a statement", [genesis, submit(1), statement(5, [first, first])]],
  ["unfinished", "an accepted one of which nobody knows", [genesis, submit(1), missing(9), settled]],
  [
    "order",
    "two readers",
    [
      genesis,
      submit(1),
      submit(1, { ...second, from: bob, nonce: 0 }),
      event(3),
      event(4, second),
      event(3, second, "1"),
      event(4, first, "1"),
    ],
  ],
  ["order", "a nonce before the one below it", [...all, event(3, second), event(4)]],
  [
    "lost event",
    "one that another reader has between two",
    [...all, event(3), event(4, second), event(5, third), event(3, first, "1"), event(4, third, "1")],
  ],
  ["lost event", "a nonce with a gap before it", [...all, event(3), event(4, third)]],
  ["statement", "a row left out", [...all, statement(5, [first, third])]],
  [
    "statement",
    "a wrong change",
    [
      ...all,
      {
        ...statement(5, [first]),
        entries: [{ hash: first.hash, kind: "sent", change: -100 }],
      } as History.Line,
    ],
  ],
  ["statement", "a balance beside its entries", [...all, { ...statement(5, [first]), balance: 1_000 } as History.Line]],
  ["statement", "a final one that nobody lists", [genesis, submit(1), final(3), settled]],
  ["balance", "a sum that never was", [...all, balance(3, 889, 1), settled]],
  ["balance", "money of one state and a nonce of another", [...all, balance(3, 1_000, 1), settled]],
  ["stale", "a balance older than the one before", [...all, balance(3, 890, 1), balance(6, 1_000, 0)]],
  ["stale", "a balance without a final transaction", [...all, final(3), balance(6, 1_000, 0)]],
  ["stale", "a balance without what an event told", [...all, event(3), balance(6, 1_000, 0)]],
  [
    "stale",
    "a balance at another gateway that was asked as of a later commit",
    [
      ...all,
      { ...balance(3, 890, 1), commit: 5 } as History.Line,
      { ...balance(6, 1_000, 0, "1"), floor: 5, commit: 6 } as History.Line,
    ],
  ],
  [
    "statement",
    "a page with a row left out",
    [...all, { ...statement(5, [first, third]), balance: 670, isWhole: false } as History.Line],
  ],
  ["stale", "a statement older than a balance", [...all, balance(3, 780, 2), statement(6, [first])]],
  ["stale", "a balance taken back by a kill", [...all, balance(3, 890, 1), fault(5, "kill"), balance(6, 1_000, 0)]],
  ["stale", "a gateway as of an older commit", [...all, { ...status(3, 9, 500), floor: 7, commit: 6 } as History.Line]],
  ["stale", "a round that goes down", [status(3, 9, 500), status(6, 8, 500)]],
  ["disappeared", "one of which an event told", [...all, event(3), missing(6)]],
  ["forgotten", "an accepted one that is not final yet", [genesis, submit(1), missing(9)]],
  ["forgotten", "one that waited for long before a kill", [genesis, submit(1), fault(9_000, "kill"), missing(9_900)]],
  ["nonce", "a next nonce that an accepted one has", [genesis, submit(1), balance(3, 1_000, 0)]],
  ["early", "money before it was sent", [genesis, balance(3, 890, 1, "0", 1), submit(9), statement(12, [first])]],
  ["nonce", "a next nonce beyond what was sent", [...all, balance(3, 1_000, 0, "0", 4)]],
  ["nonce", "a next nonce below the account's", [...all, balance(3, 890, 1, "0", 0)]],
  ["equivocation", "two vertices for one slot at two nodes", [signed(3, "v"), signed(4, "w", "0-copy")]],
  ["equivocation", "two vertices for one slot at one node", [signed(3, "v"), signed(4, "w")]],
  ["supply", "two supplies after one round", [status(3, 9, 500), status(3, 9, 501, "1")]],
  [
    "checkpoint",
    "two checkpoints of one round",
    [
      { kind: "checkpoint", ...at(3), round: 10, hash: "x" },
      { kind: "checkpoint", ...at(3, "1"), round: 10, hash: "y" },
    ],
  ],
]

describe("the checker of histories", () => {
  it.each(good)("finds nothing in %s", (_, history) => {
    expect(Checker.judge(history)).toEqual([])
  })

  it.each(bad)("finds a violation of %j in %s", (rule, _, history) => {
    expect(rulesOf(history)).toContain(rule)
  })

  it("judges a history that was written and read again", () => {
    const history = [...all, final(3), event(4), status(5, 9, 500), settled]
    expect(History.read(history.map(History.write).join(""))).toEqual(history)
  })

  it("shares no code with the program", () => {
    const rules = readdirSync(join(import.meta.dirname, "rules")).map((file) => `rules/${file}`)
    for (const file of ["Checker.ts", "History.ts", "Told.ts", ...rules]) {
      const text = readFileSync(join(import.meta.dirname, file), "utf8")
      const imports = [...text.matchAll(/^import .* from "(.*)"$/gm)].map(([, from]) => from)
      const ours = ["effect", "../History.js", "./History.js", "../Told.js", "./Finality.js"]
      expect(imports.filter((from = "") => !ours.includes(from) && !from.startsWith("./rules/"))).toEqual([])
    }
  })
})
