/** A node that judges messages of peers, with its whole environment. */
import * as MessageCodec from "../../src/network/MessageCodec.js"
import type { RelayDecision } from "../../src/network/Network.js"
import type { Standing } from "../../src/network/Standing.js"
import { Bulkhead } from "../../src/node/signatures/Bulkhead.js"
import type { Lane } from "../../src/node/signatures/Job.js"
import { type Inspected, MessageInspection, type Surroundings } from "../../src/node/signatures/MessageInspection.js"
import { OpenQuestions } from "../../src/node/signatures/OpenQuestions.js"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import { type Check, isValid, VerifiedTransactions } from "../../src/protocol/transaction/Verification.js"
import type * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import type { Message } from "../../src/replica/messages/Message.js"
import type { PeerId } from "../../src/replica/messages/Peer.js"
import * as FakeKeys from "../consensus/FakeKeys.js"
import { Cluster, signerOf } from "../replica/Cluster.js"
import { countersOf } from "./CountersOf.js"

export const cluster = new Cluster({ validators: { ann: 10_000, ben: 10_000, cleo: 10_000, dan: 10_000 } })
cluster.start()
cluster.runRounds(8)

export const { replica, disk } = cluster.machine("ann")

export const { networkId } = cluster.genesis

const { opening, dag } = replica.core.epoch

export const { epoch } = opening.record

export const stored = disk.verticesOf(epoch)

export const heartbeats = (count: number, isGood = true): ReadonlyArray<Heartbeat.Heartbeat> =>
  Array.from({ length: count }, (_, i) => {
    const beat = Heartbeat.sign(Natural.commitIndex(i), Hash.ZERO, signerOf(`validator ${i}`))
    return isGood || i < count - 1 ? beat : { ...beat, commitHash: Hash.of("udg/commit", Uint8Array.of(1)) }
  })

/** A valid vertex apart from the given changes; a new one each time. */
let made = 0

export const vertexOf = (author: string, changes: Partial<Header.Content> = {}, body: Partial<Vertex.Body> = {}) => {
  const round = Natural.round(dag.highestRound + 1)
  const parents = dag.at(dag.highestRound).map(({ vertex }) => vertex.header)
  const content = { base: opening.base, epoch, round, parents, timestamp: Natural.timestamp(cluster.now + made++) }
  const coinbase = replica.core.epoch.committee.coinbase(round, 0)
  return Vertex.sign({ ...content, coinbase, ...changes }, { ...Vertex.emptyBody, ...body }, signerOf(author))
}

export const bad = "00".repeat(64) as Signature

export const pushed = (...vertices: ReadonlyArray<Vertex.Vertex>): Message => ({ _tag: "Vertices", vertices })

export interface Changes {
  readonly replica?: Partial<Surroundings["replica"]>
  readonly verify?: (check: Check) => boolean
  readonly verifiedTransactions?: VerifiedTransactions
  /** The slow rule. */
  readonly verifySlowly?: (check: Check) => boolean
  /** Holds the result of signature checks until the test releases it. */
  readonly hold?: (answer: () => void) => void
  /** Holds the result of the slow rule until the test releases it. */
  readonly holdSlow?: (answer: () => void) => void
  /** Checks that still wait for their turn when the test ends. */
  readonly isStuck?: (check: Check & Lane) => boolean
}

export const scene = ({
  replica: other = {},
  verify = FakeKeys.isValid,
  verifySlowly = isValid,
  verifiedTransactions = new VerifiedTransactions(1_000),
  hold = setImmediate,
  holdSlow = setImmediate,
  isStuck = () => false,
}: Changes = {}) => {
  const verified: Array<Check & Lane> = []
  /** For each check by the slow rule, the peer whose turn it used. */
  const slow: Array<string> = []
  const said: Array<string> = []
  const refused: Array<string> = []
  const passed: Array<Inspected> = []
  const asked = new OpenQuestions()
  const counters = countersOf()
  // The methods of a class are not its own properties.
  const view: Surroundings["replica"] = {
    checksOf: (message, isVerified) => replica.checksOf(message, isVerified),
    useOf: (from, message) => replica.useOf(from, message),
    validatorOf: (from) => replica.validatorOf(from),
    isAwaited: () => true,
    core: replica.core,
    pool: replica.pool,
    read: replica.read,
    ...other,
  }
  const inspection = new MessageInspection({
    replica: view,
    networkId,
    signatures: {
      verified: verifiedTransactions,
      check: (checks, complete, lane) => {
        if (lane === undefined) throw new Error("no lane")
        const waiting = checks.map((check) => ({ ...check, ...lane }))
        verified.push(...waiting)
        if (waiting.some(isStuck)) return
        hold(() => {
          const results = Uint8Array.from(checks, (check) => (verify(check) ? 1 : 0))
          for (const [i, { transaction }] of checks.entries()) {
            if (transaction !== undefined && results[i] === 1) verifiedTransactions.add(transaction)
          }
          complete(results)
        })
      },
      checkByZip215: (checks, complete, owner) => {
        slow.push(...checks.map(() => owner.peer))
        holdSlow(() => complete(checks.every(verifySlowly)))
      },
    },
    asked,
    bulkhead: new Bulkhead(counters, (place) => said.push(place)),
    ask: (_, question) => passed.push({ _tag: "HeardOf", from: question._tag as PeerId, epoch }),
    refused: (_, what) => refused.push(what),
    pass: (judged) => passed.push(judged),
  })
  const take = (
    from: string,
    standing: Standing,
    message: Message,
    settled: (verdict: RelayDecision) => void = () => {},
  ) =>
    inspection.take({
      from: from as PeerId,
      standing,
      network: `the network of ${from}`,
      tag: message._tag,
      bytes: MessageCodec.encode(message),
      release: settled,
    })
  const settle = async () => {
    for (let turn = 0; turn < 30; turn++) await new Promise(setImmediate)
  }
  const vertices = () =>
    passed.flatMap((judged) =>
      judged._tag === "Message" && (judged.message._tag === "Vertices" || judged.message._tag === "Rounds")
        ? judged.message.vertices.map(({ header }) => header.hash)
        : [],
    )
  return { take, settle, verified, slow, said, refused, passed, vertices, asked, counters }
}
