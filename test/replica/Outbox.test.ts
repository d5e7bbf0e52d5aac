import { describe, expect, it } from "vitest"
import { ExecutionFault, NOWHERE } from "../../src/ledger/ExecutionFault.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Commit from "../../src/protocol/vertex/Commit.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import { Outbox } from "../../src/replica/output/Outbox.js"
import type { Fatal } from "../../src/replica/output/Output.js"
import * as Write from "../../src/replica/output/Write.js"

const commit = Commit.make({
  index: Natural.commitIndex(1),
  epoch: Natural.epoch(1),
  leaderRound: Natural.round(1),
  leaderHash: Hash.ZERO,
  previous: Hash.ZERO,
})
const fatal = (cause: string): Fatal => ({
  _tag: "ExecutionFault",
  fault: new ExecutionFault({ commit, place: NOWHERE, cause }),
})

const say = (outbox: Outbox, to: string): void =>
  outbox.send(to as PeerId, { _tag: "Highest", author: "" as never, epoch: Natural.epoch(1), header: null })

/** The recipients of what was sent, and the causes of a halt. */
const drained = (outbox: Outbox) =>
  outbox.drain().map((output) => {
    if (output._tag === "Send") return output.to
    return output._tag === "Fatal" && output.fatal._tag === "ExecutionFault" ? output.fatal.fault.cause : output._tag
  })

describe("an outbox", () => {
  it("drops the output of a part that gives a reason to halt, and keeps earlier output", () => {
    const outbox = new Outbox()
    say(outbox, "before")
    outbox.haltingOn(() => {
      say(outbox, "within")
      return fatal("the part")
    })
    say(outbox, "after")
    expect(outbox.isHalted).toBe(true)
    expect(drained(outbox)).toEqual(["before", "the part"])
  })

  it("numbers its writes, and says which of them the host must report", () => {
    const outbox = new Outbox()
    const write: Write.Write = { _tag: "Pending", added: [], removed: [] }
    expect([outbox.write(write), outbox.write(write, true)]).toEqual([1, 2])
    const written = { _tag: "Write", write } as const
    expect(outbox.drain()).toEqual([
      { ...written, id: 1, isSynced: false },
      { ...written, id: 2, isSynced: true },
    ])
    expect(outbox.write(write)).toBe(3)
    expect(outbox.drain()).toHaveLength(1)
    expect(outbox.drain()).toEqual([])
  })

  it("keeps the output of a part that gives no reason", () => {
    const outbox = new Outbox()
    outbox.haltingOn(() => {
      say(outbox, "within")
      return undefined
    })
    expect([outbox.isHalted, drained(outbox)]).toEqual([false, ["within"]])
  })

  it("halts for the first reason: nested parts add none, and no part runs after it", () => {
    const outbox = new Outbox()
    let runs = 0
    outbox.haltingOn(() => {
      outbox.haltingOn(() => fatal("the inner part"))
      return fatal("the outer part")
    })
    outbox.haltingOn(() => {
      runs++
      return undefined
    })
    expect([runs, drained(outbox)]).toEqual([0, ["the inner part"]])
  })
})

describe("a write", () => {
  const table: { readonly [Tag in Write.Write["_tag"]]: Write.File } = {
    OwnVertex: "signed",
    Intent: "signed",
    Inserted: "ledger",
    Executed: "ledger",
    CheckpointBuilt: "ledger",
    CheckpointFinal: "ledger",
    EpochStarted: "ledger",
    Pending: "ledger",
    ForeignOwnHeader: "signed",
    JoinBegun: "ledger",
    JoinSubtree: "ledger",
    Joined: "ledger",
  }

  it("goes into the file of signatures if this key has signed it", () => {
    const tags = Object.keys(table) as ReadonlyArray<keyof typeof table>
    const told = tags.map((_tag) => [_tag, Write.fileOf({ _tag })])
    expect(Object.fromEntries(told)).toEqual(table)
  })
})
