/** Which signatures are verified in each message. One that is missing here would be accepted unverified. */
import { describe, expect, it } from "vitest"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import type * as EpochRecord from "../../src/protocol/epoch/EpochRecord.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Evidence from "../../src/protocol/vertex/Evidence.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import type * as Vertex from "../../src/protocol/vertex/Vertex.js"
import { checksOf } from "../../src/replica/messages/Checks.js"
import type { Message } from "../../src/replica/messages/Message.js"
import { equalWeights, genesisCheckpoint, openingOf, recordOf, seedOf } from "../consensus/TestCommittee.js"
import { VertexBuilder } from "../consensus/VertexBuilder.js"
import { addressOf, signerOf, transfer } from "./Cluster.js"

const NETWORK = "udg-test" as NetworkId
const record = recordOf(equalWeights(4))
const builder = new VertexBuilder(openingOf(record))
const known = transfer("ann", 0, "bob", 1)
const fresh = transfer("ann", 1, "bob", 1)
const heartbeat = Heartbeat.sign(Natural.commitIndex(1), seedOf("commit"), signerOf("eve"))
const [one, other] = [1, 2].map((time) => builder.make(0, 1, [], { timestamp: Natural.timestamp(time) }).header)
const evidence = one && other && Evidence.of(one, other)
if (evidence === undefined) throw new Error("two vertices of one slot prove it")
const checkpoint = genesisCheckpoint(record)
const signature = Checkpoint.sign(checkpoint, signerOf("ann"))
const [member] = record.members
if (member === undefined) throw new Error("a member expected")

const body: Vertex.Body = { transactions: [known, fresh], evidence: [evidence], heartbeats: [heartbeat] }
const full = builder.make(1, 1, [], {}, body)
const empty = builder.make(2, 1, [])

const ofTransaction = Verification.checksOf(NETWORK, fresh)
const ofEvidence = [Header.check(evidence.first), Header.check(evidence.second)]
const ofVertices = [
  Header.check(full.header),
  ...ofEvidence,
  Heartbeat.check(heartbeat),
  ...ofTransaction,
  Header.check(empty.header),
]

const of = (message: Message, signer: EpochRecord.Member | undefined = member) =>
  checksOf(
    message,
    NETWORK,
    () => signer,
    ({ id }) => id === known.id,
  )

describe("the checks before admission", () => {
  it("cover a vertex with everything it carries, except transactions verified before", () => {
    expect(of({ _tag: "Vertices", vertices: [full, empty] })).toEqual(ofVertices)
    const rounds = { _tag: "Rounds", epoch: record.epoch, vertices: [full, empty], isLast: true } as const
    expect(of(rounds)).toEqual(ofVertices)
  })

  it("cover a transaction unless it was verified before", () => {
    expect(of({ _tag: "Transactions", transactions: [known, fresh] })).toEqual(ofTransaction)
    expect(ofTransaction).toHaveLength(1)
  })

  it("cover a heartbeat, both headers of evidence, and a header in an answer", () => {
    expect(of({ _tag: "Heartbeat", heartbeat })).toEqual([Heartbeat.check(heartbeat)])
    expect(of({ _tag: "Evidence", evidence })).toEqual(ofEvidence)
    const highest = { _tag: "Highest", author: full.header.author, epoch: record.epoch } as const
    expect(of({ ...highest, header: full.header })).toEqual([Header.check(full.header)])
    expect(of({ ...highest, header: null })).toEqual([])
  })

  it("cover a checkpoint signature by the named member's key, if it adds anything", () => {
    const message = { _tag: "CheckpointSignature", checkpoint, signature } as const
    expect(of(message)).toEqual([Checkpoint.check(checkpoint, member, signature.signature)])
    const asked: Array<unknown> = []
    const signerOf = (...given: ReadonlyArray<unknown>): undefined => void asked.push(given)
    expect(checksOf(message, NETWORK, signerOf, () => false)).toEqual([])
    expect(asked).toEqual([[checkpoint, addressOf("ann")]])
  })

  it("are empty for questions, and for answers that are judged by known data", () => {
    const root = seedOf("root")
    const messages: ReadonlyArray<Message> = [
      { _tag: "AskVertices", hashes: [root] },
      { _tag: "AskRounds", epoch: record.epoch, fromRound: Natural.round(1), toRound: Natural.round(2), after: null },
      { _tag: "AskClosing", from: record.epoch },
      { _tag: "AskHighest", author: addressOf("ann") },
      { _tag: "AskState", root, position: new Uint8Array(1) },
      { _tag: "Closing", signed: [{ checkpoint, signatures: [signature] }], newest: null },
      { _tag: "State", root, subtree: null },
    ]
    expect(messages.map((message) => of(message))).toEqual(messages.map(() => []))
  })
})
