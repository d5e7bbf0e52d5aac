import { Either } from "effect"
import { describe, expect, it } from "vitest"
import type { ExecutionFault } from "../../src/ledger/ExecutionFault.js"
import * as Records from "../../src/ledger/tables/Records.js"
import * as Binary from "../../src/protocol/encoding/Binary.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type { StateRecord } from "../../src/protocol/state/StateRecord.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import { fromRecords } from "../support/Restored.js"
import { Chain, coins, person, tableKey } from "./builders.js"

const [alice, bob, val] = [person("alice"), person("bob"), person("val")]

/** A ledger whose total of this kind is 0 although somebody has some: removing any fails an assertion. */
const broken = ({ ledger, genesis }: Chain, component: "liquid" | "staked"): Chain => {
  const without = (record: StateRecord): StateRecord => {
    if (record.kind !== "Totals") return record
    const totals = { ...Either.getOrThrow(Records.decode(Records.totals, record.value)), [component]: Sats.ZERO }
    return { ...record, value: Binary.encode((writer) => Records.totals.write(writer, totals)) }
  }
  const records = [...ledger.records()].map(without)
  const restored = fromRecords(genesis.protocol, tableKey, records, ledger.effectsDigest)
  return new Chain(genesis, Either.getOrThrow(restored))
}

const faultOf = (chain: Chain, vertices: ReadonlyArray<Vertex>): ExecutionFault => {
  const executed = chain.executeVertices(vertices, 1)
  if (Either.isLeft(executed) && executed.left._tag === "ExecutionFault") return executed.left
  throw new Error("no fault")
}

describe("a ledger in which an assertion fails", () => {
  const sound = new Chain({ accounts: { alice: 100, bob: 100 } })

  it("returns the commit, the vertex and the transaction instead of throwing", () => {
    const chain = broken(sound, "liquid")
    const [paid, delegated] = [chain.transfer(bob, alice, 1), chain.delegate(alice, val, coins(10))]
    const vertex = chain.vertex({ by: val, transactions: [paid, delegated, chain.transfer(bob, alice, 2)] }, 1)
    const fault = faultOf(chain, [vertex])
    expect(fault.place).toEqual({ vertex: vertex.header.hash, transaction: delegated.id })
    expect(fault.message).toContain(`commit 1 (epoch 1, leader round 1, hash ${fault.commit.hash})`)
    expect(fault.message).toMatch(/vertex [0-9a-f]{64}, transaction [0-9a-f]{64}: RangeError: 0 - 1000000000 sats /)
  })

  it("blames no transaction for a fault outside of them", () => {
    const chain = broken(sound, "staked")
    const first = chain.vertex({ by: val, transactions: [chain.transfer(bob, alice, 1)] }, 1)
    const second = chain.vertex({ by: val, evidence: [chain.evidence(val, 1)] }, 1)
    const { place, message } = faultOf(chain, [first, second])
    expect(place).toEqual({ vertex: second.header.hash, transaction: null })
    expect(message).not.toContain("transaction")
  })
})
