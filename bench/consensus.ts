// How much work consensus makes: vertices of a full committee taken in by one node, and whether a round costs the same
// late in an epoch as early. Signatures are the host's and not checked here; their number is printed beside.

import { signatureChecks } from "../src/consensus/dag/Validity.js"
import { Epoch } from "../src/consensus/Epoch.js"
import type { Output } from "../src/consensus/output/Output.js"
import type * as Network from "../src/protocol/identity/Network.js"
import * as Limits from "../src/protocol/numbers/Limits.js"
import * as Natural from "../src/protocol/numbers/Natural.js"
import * as Sats from "../src/protocol/numbers/Sats.js"
import * as Transaction from "../src/protocol/transaction/Transaction.js"
import * as Header from "../src/protocol/vertex/Header.js"
import * as Vertex from "../src/protocol/vertex/Vertex.js"
import * as FakeKeys from "../test/consensus/FakeKeys.js"
import { equalWeights, keysOf, openingOf, recordOf, rules } from "../test/consensus/TestCommittee.js"
import { parentOf, VertexBuilder } from "../test/consensus/VertexBuilder.js"
import { type Figure, median, type Suite } from "./Harness.js"

const NETWORK = "bench" as Network.NetworkId

/** As many transfers as a vertex may hold; with 100 parents they are 0.8 MiB. */
const fullBody = (): Vertex.Body => {
  const [from, to] = keysOf(2)
  if (from === undefined || to === undefined) throw new Error("two keys expected")
  const transactions = Array.from({ length: Limits.VERTEX_TRANSACTIONS }, (_, nonce) => {
    const unsigned: Transaction.Unsigned = {
      from: from.address,
      nonce: Natural.nonce(nonce),
      fee: Sats.make(1_000),
      operation: { _tag: "Transfer", to: to.address, amount: Sats.make(1), memo: "" },
    }
    const signature = FakeKeys.signWith(from.publicKey)(Transaction.signedBytes(NETWORK, unsigned))
    return Transaction.make(NETWORK, unsigned, { _tag: "SingleKey", publicKey: from.publicKey, signature })
  })
  return { ...Vertex.emptyBody, transactions }
}

interface Work {
  readonly vertices: number
  readonly commits: number
  readonly signaturesPerVertex: number
  readonly milliseconds: ReadonlyArray<number>
}

/** Everybody names everybody, round after round; only the receiving node's work is timed. */
const run = (members: number, rounds: number, body: Vertex.Body): Work => {
  const record = recordOf(equalWeights(members), { rules: { ...rules, epochRounds: 10_000_000 } })
  const opening = openingOf(record)
  const builder = new VertexBuilder(opening)
  const bodyHash = Vertex.bodyHash(body)
  // One encoding stands for all: nobody but the size limit looks at it.
  const { encoded } = builder.make(0, 1, [], {}, body)
  let commits = 0
  const epoch = new Epoch(opening, builder.committee.member(0).address, (output: Output) => {
    if (output._tag === "Committed") commits++
  })
  const milliseconds: Array<number> = []
  let parents: ReadonlyArray<Header.Parent> = []
  for (let round = 1; round <= rounds; round++) {
    const made = builder.committee.record.members.map(({ publicKey }, seat): Vertex.Vertex => {
      const content: Header.Content = {
        base: opening.base,
        epoch: record.epoch,
        round: Natural.round(round),
        publicKey,
        parents,
        timestamp: Natural.timestamp(round),
        coinbase: builder.committee.coinbase(Natural.round(round), seat),
        bodyHash,
      }
      return { header: Header.make(content, FakeKeys.signWith(publicKey)), body, encoded }
    })
    // As they come out of the codec: no text is shared with anything the node knows.
    const arrived = made.map((vertex) => ({ ...vertex, header: decoded(vertex.header) }))
    const started = performance.now()
    for (const vertex of arrived) epoch.receive(vertex)
    epoch.proposer?.parents(Natural.round(round + 1))
    milliseconds.push(performance.now() - started)
    parents = made.map(parentOf)
  }
  const signaturesPerVertex = signatureChecks(NETWORK, builder.make(0, 1, [], {}, body)).length
  return { vertices: members * rounds, commits, signaturesPerVertex, milliseconds }
}

const decoded = (header: Header.Header): Header.Header => {
  const result = Header.decode(Header.encode(header))
  if (result._tag === "Left") throw result.left
  return result.right
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
const average = (values: ReadonlyArray<number>): number => sum(values) / values.length
const MEMBERS = 100
const ROUNDS = 100
const LONG_MEMBERS = 10
const LONG_ROUNDS = 5_000
const LONG_STEP = 1_000

const fullRounds = (): ReadonlyArray<Figure> => {
  const body = fullBody()
  run(MEMBERS, 20, body)
  const { vertices, milliseconds, signaturesPerVertex } = run(MEMBERS, ROUNDS, body)
  return [
    { name: `${MEMBERS} validators: vertices`, value: (vertices / sum(milliseconds)) * 1_000, unit: "a second" },
    { name: `${MEMBERS} validators: a round, average (target 60)`, value: average(milliseconds), unit: "ms" },
    { name: `${MEMBERS} validators: a round, median`, value: median(milliseconds), unit: "ms" },
    {
      name: `${MEMBERS} validators: signatures to check, not in these times`,
      value: MEMBERS * signaturesPerVertex,
      unit: "a round",
    },
  ]
}

const longEpoch = (): ReadonlyArray<Figure> => {
  const { milliseconds } = run(LONG_MEMBERS, LONG_ROUNDS, Vertex.emptyBody)
  const starts = Array.from({ length: LONG_ROUNDS / LONG_STEP }, (_, i) => i * LONG_STEP)
  return starts.map((start) => ({
    name: `${LONG_MEMBERS} validators: a round, median of ${Math.max(100, start)} to ${start + LONG_STEP}`,
    value: median(milliseconds.slice(Math.max(100, start), start + LONG_STEP)),
    unit: "ms",
  }))
}

export const suite: Suite = {
  about: "a node that receives the vertices of a whole committee, and how the cost of a round grows within an epoch",
  figures: () => [...fullRounds(), ...longEpoch()],
}
