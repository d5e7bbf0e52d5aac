/** Bugs that audits found and that are fixed, each as a fault that puts it back, with the judges to ask about it. */
import type { FaultName } from "../simulation/Storm.js"
import type * as Planting from "../support/Planting.js"

export interface Finding extends Planting.Fault {
  readonly story: string
  /** Test files that could fail. */
  readonly tests: ReadonlyArray<string>
  /** How to run the simulator; it is not asked if this is missing. */
  readonly simulated?: {
    readonly weather?: ReadonlyArray<FaultName>
    readonly nodes?: number
    readonly rounds?: number
    readonly rotations?: boolean
  }
  /** The faults of the world in a virtual history; it is not recorded if this is missing, and all strike if empty. */
  readonly virtual?: ReadonlyArray<string>
}

const CORE = "src/consensus/Core.ts"
const GUARD = "src/consensus/SigningGuard.ts"
const CATCHING_UP = "src/replica/asking/CatchingUp.ts"
const HISTORIES = "src/replica/joining/Histories.ts"
const PENDING = "src/ledger/pending/PendingTransactions.ts"
const TRANSACTIONS = "src/ledger/rules/Transactions.ts"
const POOL = "src/ledger/tables/Pool.ts"

const BUSY: ReadonlyArray<FaultName> = ["network", "crashes", "byzantine"]

const REMEMBERS_WALL_CLOCK = {
  file: CORE,
  of: "Core.wallIs",
  by: `(aheadMs) => {
    original(aheadMs)
    Reflect.set(this, "wallAheadMs", aheadMs)
  }`,
}

const stated: ReadonlyArray<Planting.Stated<Finding>> = [
  {
    name: "priceless-delegation",
    story: "a delegation is priced before the balance is known to cover it, and throws if the sum is out of range",
    tests: ["test/ledger/attacks.test.ts", "test/ledger/fuzz.test.ts"],
    simulated: { weather: ["byzantine"] },
    changes: [
      {
        file: TRANSACTIONS,
        of: "operationRejection",
        call: "Delegation.delegateRejection",
        by: `(...all) =>
          Delegation.delegateRejection(...all) ??
          (operation._tag === "DelegateTx" ? Delegation.depositRejection(state, operation) : undefined)`,
      },
      { file: POOL, of: "deposit", call: "Sats.plus", by: "(a, b) => Sats.addBounded(a, b)" },
    ],
  },
  {
    name: "free-failure",
    story: "a free transaction of an account that was never seen fails instead of having no effect",
    tests: ["test/ledger/attacks.test.ts", "test/ledger/fuzz.test.ts"],
    simulated: { weather: ["byzantine"] },
    changes: [
      {
        file: TRANSACTIONS,
        of: "noEffect",
        call: "Charges.isExempt",
        by: "() => true",
      },
      {
        file: TRANSACTIONS,
        of: "execute",
        call: "state.accounts.recorded",
        by: "(row) => row ?? (-1 as Row)",
      },
    ],
  },
  {
    name: "settled-by-id",
    story: "a vertex with a transaction's id, whatever its signatures, drops it from every mempool",
    tests: ["test/ledger/pending/PendingTransactions.test.ts", "test/ledger/pending/Choice.test.ts"],
    simulated: { weather: ["byzantine"] },
    file: PENDING,
    of: "PendingTransactions.evictExecuted",
    by: `(execution, bodies) => {
      original(execution, bodies)
      for (const { id } of bodies.flat()) {
        const entry = this.#entries.get(id)
        if (entry !== undefined) this.#drop(entry, "executed")
      }
    }`,
  },
  {
    name: "deposit-without-change",
    story: "a pool takes the whole deposit, also what buys no share",
    tests: ["test/ledger/pool.test.ts", "test/ledger/attacks.test.ts"],
    simulated: {},
    file: POOL,
    of: "deposit",
    by: `(pool, offered) =>
      Either.map(original(pool, offered), (deposit) => ({
        ...deposit,
        cost: offered,
        pool: { ...deposit.pool, amount: Sats.addBounded(pool.amount, offered) },
      }))`,
  },
  {
    name: "bond-always-returned",
    story: "a proposal without votes costs nothing, and one proposer can hold all places",
    tests: ["test/ledger/governance.test.ts"],
    changes: [
      { file: "src/ledger/rules/Governance.ts", of: "proposalRejection", call: "agenda.activeOf", by: "() => 0" },
    ],
  },
  {
    name: "released-while-answerable",
    story: "delegations are paid out while they still count in the weight of a member that is kept on",
    tests: ["test/ledger/leaving.test.ts"],
    simulated: { weather: ["newcomers", "byzantine"] },
    file: "src/ledger/rules/Unlocking.ts",
    of: "release",
    call: "state.unlocking.takeDue",
    by: "(round, epoch) => state.unlocking.takeDue(round, epoch, () => false)",
  },
  {
    name: "keys-changed-at-once",
    story: "any weight changes its keys at one close",
    tests: ["test/ledger/rotationAttacks.test.ts", "test/ledger/keyRotation.test.ts"],
    simulated: { rotations: true, nodes: 5, rounds: 200 },
    file: "src/ledger/rules/Committee.ts",
    of: "withChanges",
    by: `(seats) =>
      seats.map((seat) =>
        seat.change === null ? seat : { ...seat, publicKey: seat.change.publicKey, established: Sats.ZERO },
      )`,
  },
  {
    name: "any-time",
    story: "a vertex may have any timestamp up to 2^53 - 1",
    tests: ["test/protocol/Natural.test.ts", "test/document/Document.test.ts"],
    simulated: { weather: ["byzantine"] },
    file: "src/protocol/numbers/Natural.ts",
    of: "isTimestamp",
    by: "(value) => isNatural(value)",
  },
  {
    name: "foreign-base",
    story: "a header of the validator's key counts as its own, whatever network it was signed for",
    tests: ["test/consensus/SigningGuard.test.ts"],
    simulated: { weather: ["byzantine"] },
    file: GUARD,
    of: "SigningGuard.meet",
    by: `(header) => {
      if (header.author !== this.self || header.epoch < this.#oldest || this.#known.has(header.hash)) return false
      this.#highestForeign = higherOf(this.#highestForeign, header)
      this.#quietMsLeft = this.#silentMs
      this.#connectedSince = null
      this.#know(header)
      return true
    }`,
  },
  {
    name: "silence-by-wall-clock",
    story: "the silence of a validator that lost its disk is over when its wall clock says so",
    tests: ["test/replica/Clocks.test.ts"],
    simulated: { weather: ["wipes", "clocks", "losses"], nodes: 4, rounds: 60 },
    virtual: ["clock", "copied key"],
    changes: [
      REMEMBERS_WALL_CLOCK,
      {
        file: CORE,
        of: "Core.tick",
        by: `(now) => {
          const outputs = original(now)
          const wall = Math.max(0, now + Number(Reflect.get(this, "wallAheadMs") ?? 0))
          this.#options.guard?.tick(wall as Timestamp, () => this.#isConnectedToQuorum())
          return outputs
        }`,
      },
      {
        file: GUARD,
        of: "SigningGuard.tick",
        by: `(now, hasQuorum) => {
          if (this.#quietMsLeft === null || !hasQuorum()) return
          if (this.#connectedSince !== null) this.#quietMsLeft -= Math.abs(now - this.#connectedSince)
          this.#connectedSince = now
          if (this.#quietMsLeft > 0) return
          this.#quietMsLeft = null
          this.#waitedFor = this.#highest
        }`,
      },
    ],
  },
  {
    name: "silent-does-not-answer",
    story: "a validator that is silent after a loss tells nobody what it has seen of others",
    tests: ["test/replica/Clocks.test.ts", "test/consensus/CoreRestart.test.ts", "test/replica/LostDisk.test.ts"],
    simulated: { weather: ["crashes", "wipes"], nodes: 4 },
    virtual: ["kill", "rolling restart"],
    file: CORE,
    of: "Core.highestKnownOf",
    by: '(author) => (this.signing._tag === "Silent" ? { epoch: NO_EPOCH, header: null } : original(author))',
  },
  {
    name: "late-vertex-forgotten",
    story: "what a member signed in a vertex that comes too late is forgotten",
    tests: ["test/replica/Wiped.test.ts", "test/consensus/CoreSteps.test.ts"],
    simulated: { weather: ["wipes", "joins"], nodes: 4 },
    file: CORE,
    of: "Core.#rememberLate",
    by: "() => {}",
  },
  {
    name: "crowded-out-forgotten",
    story: "what a member signed in a vertex that finds no place to wait for its parents is forgotten",
    tests: ["test/consensus/CoreSteps.test.ts"],
    simulated: { weather: ["wipes", "byzantine", "aimed"] },
    file: CORE,
    of: "Core.#receiveCurrent",
    by: `(vertex) => {
      this.#epoch.receive(vertex)
      if (this.#epoch.vertex(vertex.header.hash) !== undefined) this.#highestHeaders.remember(vertex.header)
      else this.#rememberLate(vertex.header)
    }`,
  },
  {
    name: "closed-epoch-forgotten",
    story: "the guard forgets the epoch that has just closed",
    tests: ["test/consensus/CoreSteps.test.ts", "test/consensus/CoreRestart.test.ts"],
    simulated: { weather: ["copies", "backups"], nodes: 4 },
    file: GUARD,
    of: "SigningGuard.forgetBefore",
    by: "(oldest) => original(Natural.epoch(oldest + 1))",
  },
  {
    name: "running-epoch-only",
    story: "a checkpoint of the previous epoch that contradicts this node does not stop it",
    tests: ["test/consensus/CoreCheckpoints.test.ts"],
    simulated: { weather: BUSY },
    file: CORE,
    of: "Core.#checkpointsOf",
    by: "(epoch) => (epoch === this.#epoch.opening.record.epoch ? this.#checkpoints : undefined)",
  },
  {
    name: "evidence-on-any-base",
    story: "evidence of the running epoch is kept and relayed under any base",
    tests: ["test/replica/SignedGossip.test.ts"],
    simulated: { weather: ["byzantine"] },
    file: "src/replica/asking/SignedGossip.ts",
    of: "SignedGossip.#isProof",
    by: `(evidence) => {
      const { epoch, author } = evidence.first
      const { opening, committee } = this.#live().core.epoch
      return epoch === opening.record.epoch ? committee.seatOf(author) !== undefined : original(evidence)
    }`,
  },
  {
    name: "early-stamps-wait",
    story: "a vertex that is stamped more than a second ahead of this wall clock is not taken in yet",
    tests: ["test/replica/Clocks.test.ts"],
    simulated: { weather: ["clocks", "skew"], nodes: 4 },
    virtual: ["clock"],
    changes: [
      REMEMBERS_WALL_CLOCK,
      {
        file: CORE,
        of: "Core.receive",
        by: `(vertex, now) =>
          vertex.header.timestamp > now + Number(Reflect.get(this, "wallAheadMs") ?? 0) + 1_000
            ? []
            : original(vertex, now)`,
      },
    ],
  },
  {
    name: "old-pages-count",
    story: "a peer is asked on whatever it answers, as long as it says that there is more",
    tests: ["test/replica/FallenBehind.test.ts", "test/replica/CatchingUp.test.ts"],
    simulated: { weather: ["joins", "byzantine"] },
    file: CATCHING_UP,
    of: "CatchingUp.#goOn",
    by: `(session, answer, hasMoved, shelf, now) => {
      const last = answer.vertices.at(-1)
      if (answer.isLast || last === undefined) return original(session, answer, hasMoved, shelf, now)
      return this.#ask({ ...session, question: { ...session.question, after: last.header.hash } }, now)
    }`,
  },
  {
    name: "impatient-pages",
    story: "each half second, another peer is asked for the page that is being received",
    tests: ["test/replica/CatchingUp.test.ts", "test/replica/AnswerTime.test.ts"],
    simulated: { weather: ["joins", "slow"] },
    virtual: ["busy", "older disk"],
    changes: [
      { file: "src/replica/messages/AnswerTime.ts", of: "AnswerTime.silence", by: "() => {}" },
      { file: "src/replica/messages/AnswerTime.ts", of: "AnswerTime.took", by: "() => {}" },
    ],
  },
  {
    name: "question-outlives-epoch",
    story: "a late copy of a page leaves a question open once no more rounds are wanted",
    tests: ["test/replica/CatchingUp.test.ts"],
    simulated: { weather: ["joins", "slow"] },
    file: CATCHING_UP,
    of: "CatchingUp.take",
    by: `(from, answer, taking, now) => {
      const isCopy = (this.#awaited.get(from)?.since.length ?? 0) > 1
      const hasAll = answer.vertices.every(({ header }) => taking.shelf.has(header.hash))
      return original(from, answer, isCopy && hasAll ? { ...taking, isOver: false } : taking, now)
    }`,
  },
  {
    name: "retired-keys",
    story: "a joiner follows the newest proven checkpoint, also where it does not follow from the one below",
    tests: ["test/replica/Joining.test.ts", "test/replica/Histories.test.ts"],
    simulated: { weather: ["joins", "byzantine"] },
    changes: [
      { file: HISTORIES, of: "Histories.connect", by: "() => ({ liars: [], parting: null })" },
      { file: HISTORIES, of: "Histories.isConnected", by: "() => true" },
    ],
  },
  {
    name: "judges-from-behind",
    story: "a node that knows that it is behind refuses nonces as too high",
    tests: ["test/node/Incoming.test.ts"],
    virtual: ["pause", "partition"],
    file: "src/node/engine/Incoming.ts",
    of: "unlessBehind",
    by: "() => (refusal: Refusal) => refusal",
  },
  {
    name: "verified-before-judged",
    story: "signatures of a client's transaction are checked although it would be refused in any case",
    tests: ["test/node/Incoming.test.ts"],
    file: "src/node/engine/Incoming.ts",
    of: "answersAhead",
    by: "(_, transactions) => transactions.map(() => undefined)",
  },
  {
    name: "charged-after-the-check",
    story: "a peer's transactions are charged when they are admitted, after their signatures are checked",
    tests: ["test/ledger/pending/Unpaid.test.ts", "test/node/MessageInspection.test.ts"],
    file: PENDING,
    of: "PendingTransactions.reserve",
    by: "(transaction, origin) => this.judge(transaction, origin)",
  },
  {
    name: "told-before-written",
    story: "the writer reports a write a tenth of a second before it is on the disk",
    tests: ["test/node/Writer.test.ts", "test/node/Durability.test.ts"],
    virtual: ["kill", "copied key"],
    file: "src/node/engine/Writer.ts",
    of: "start",
    call: "Disk.keep",
    by: "(storage, batch, at) => Effect.asVoid(Effect.forkDaemon(Effect.delay(Disk.keep(storage, batch, at), 100)))",
  },
  {
    name: "prunes-by-memory",
    story: "pruning goes by the epoch in memory, which the disk may not have reached",
    tests: ["test/node/Pruning.test.ts"],
    virtual: ["slow threads"],
    file: "src/node/offline/Pruning.ts",
    of: "once",
    call: "vertices",
    by: `(bounds, rest, onPruned) =>
      vertices({ ...bounds, running: view.core.epoch.opening.record.epoch }, rest, onPruned)`,
  },
  {
    name: "unchecked-start",
    story: "a node starts with files whose parts contradict each other",
    tests: ["test/replica/Agreement.test.ts", "test/node/Loading.test.ts"],
    virtual: ["kill"],
    file: "src/replica/disk/Agreement.ts",
    of: "disagreementIn",
    by: "() => null",
  },
  {
    name: "directory-vanished",
    story: "a node does not notice that its data directory is gone",
    tests: ["test/node/DirectoryWatch.test.ts"],
    file: "src/storage/files/HeldFiles.ts",
    of: "watch",
    call: "lost",
    by: "() => Effect.succeed(null)",
  },
  {
    name: "supply-not-recounted",
    story: "a difference between the supply in memory and on the disk goes unnoticed while the node runs",
    tests: ["test/node/SupplyWatch.test.ts"],
    file: "src/node/engine/SupplyWatch.ts",
    of: "SupplyWatch.violation",
    by: "() => undefined",
  },
  {
    name: "uptime-without-the-end",
    story: "the last rounds of each epoch count for no validator",
    tests: ["test/node/Participation.test.ts"],
    file: "src/node/engine/Participation.ts",
    of: "Participation.epochStarted",
    call: "#countBelow",
    by: "() => {}",
  },
  {
    name: "mempool-by-arrival",
    story: "the mempool lists what came first, not what pays most",
    tests: ["test/ledger/pending/PendingTransactions.test.ts"],
    file: "src/ledger/pending/Highest.ts",
    of: "highest",
    by: "(entries, limit) => [...entries].slice(0, limit)",
  },
  {
    name: "no-effect-unknown",
    story: "a finalized transaction that had no effect is reported as unknown",
    tests: ["test/node/Services.test.ts", "test/node/Counters.test.ts"],
    file: "src/node/engine/Ineffective.ts",
    of: "Ineffective.published",
    by: "() => {}",
  },
  {
    name: "positions-repeated",
    story: "the stream of events repeats positions that have not changed",
    tests: ["test/testing/DevNetwork.test.ts", "test/rpc/events/PublicEvents.test.ts"],
    virtual: [],
    file: "src/rpc/handlers/PublicEvents.ts",
    of: "unsaid",
    by: "() => (events) => events",
  },
  {
    name: "costs-not-charged",
    story: "peers take turns by messages, whatever these cost",
    tests: ["test/node/FairQueue.test.ts", "test/node/Answers.test.ts"],
    file: "src/node/signatures/FairQueue.ts",
    of: "FairQueue.charge",
    by: "() => {}",
  },
  {
    name: "one-address-each",
    story: "places are shared by addresses, so a network of them takes all",
    tests: ["test/edge/Places.test.ts", "test/network/ConnectionSlots.test.ts", "test/network/AddressGroup.test.ts"],
    file: "src/network/AddressGroup.ts",
    of: "networksOf",
    by: "(host) => [host]",
  },
  {
    name: "confetti",
    story: "a body counts its bytes only, however many pieces bring them",
    tests: ["test/edge/RequestBody.test.ts", "test/rpc/Confetti.test.ts"],
    changes: [
      { file: "src/edge/server/Pieces.ts", of: "Grain.price", by: "() => this.#length" },
      { file: "src/edge/server/Pieces.ts", of: "Grain.isConfetti", by: "() => false" },
    ],
  },
  {
    name: "any-method-a-label",
    story: "each method that a client invents becomes a series of metrics",
    tests: ["test/rpc/monitoring/Latencies.test.ts"],
    file: "src/rpc/metrics/Latencies.ts",
    of: "labelOf",
    by: "(method) => method",
  },
  {
    name: "foreign-pages-in-a-container",
    story: "pages of other sites may use the faucet of a node that does not listen on loopback",
    tests: ["test/edge/PageGuard.test.ts"],
    file: "src/edge/admission/PageGuard.ts",
    of: "PageGuard.isForeign",
    by: "(request) => this.#isLocal && original(request)",
  },
  {
    name: "strangers-hold-all",
    story: "no bound holds for the memory of all strangers together",
    tests: ["test/network/PeerMemory.test.ts"],
    file: "src/network/peers/PeerMemory.ts",
    of: "PeerMemory.#relieve",
    by: "() => {}",
  },
  {
    name: "hash-believed",
    story: "a client believes the hash and nonce that a node returns",
    tests: ["test/client/Lying.test.ts"],
    file: "src/client/wire/Acceptance.ts",
    of: "Acceptance.#require",
    by: "() => {}",
  },
  {
    name: "silence-endured",
    story: "a client waits for ever for a stream that has fallen silent",
    tests: ["test/client/Silent.test.ts"],
    virtual: ["long cut", "pause"],
    file: "src/client/wire/Exchange.ts",
    of: "silence",
    by: "(ms) => original(1_000_000_000 + ms)",
  },
  {
    name: "nonces-asked-at-once",
    story: "payments made at once each ask the node for the next nonce",
    tests: ["test/client/Sequence.test.ts", "test/client/Account.test.ts"],
    file: "src/client/Sequence.ts",
    of: "Sequence.send",
    by: "(draft, signal) => draft.then((ready) => this.#send(ready, signal))",
  },
  {
    name: "status-is-enough",
    story: "a gateway keeps a node that answers its status and nothing else",
    tests: ["test/gateway/Nodes.test.ts"],
    file: "src/gateway/CircuitBreaker.ts",
    of: "CircuitBreaker.failed",
    by: "() => {}",
  },
  {
    name: "rounds-go-back",
    story: "a gateway forgets how far a node was when it hears another one",
    tests: ["test/gateway/Telling.test.ts"],
    file: "src/gateway/Events.ts",
    of: "Telling.heard",
    by: `(event) => {
      if (event.type === "round" && event.round < this.#reached) this.#reached = this.#final
      original(event)
    }`,
  },
  {
    name: "heartbeats-unlimited",
    story: "a node relays each heartbeat of a validator without a seat, however many it sends",
    tests: ["test/replica/Relaying.test.ts", "test/replica/SignedGossip.test.ts"],
    simulated: { weather: ["byzantine", "newcomers"] },
    file: "src/replica/asking/Relaying.ts",
    of: "Relaying.wantsHeartbeat",
    by: "() => true",
  },
  {
    name: "crowded-room",
    story: "an author may fill the waiting room with vertices whose parents do not exist",
    tests: ["test/consensus/WaitingRoom.test.ts", "test/consensus/Crowd.test.ts"],
    simulated: { weather: ["byzantine"] },
    file: "src/consensus/admission/WaitingRoom.ts",
    of: "WaitingRoom.#makeRoom",
    by: "() => true",
  },
  {
    name: "checked-before-wanted",
    story: "all signatures of a vertex are checked before its epoch, base, author and hash are looked at",
    tests: ["test/node/VertexInspection.test.ts"],
    file: "src/node/signatures/VertexInspection.ts",
    of: "VertexInspection.#useOf",
    by: '() => ({ _tag: "Wanted" })',
  },
  {
    name: "answers-unlimited",
    story: "answers to strangers cost their budget nothing",
    tests: ["test/node/Answers.test.ts"],
    file: "src/node/engine/Answers.ts",
    of: "Answers.#mayHave",
    by: "() => true",
  },
  {
    name: "streams-of-one",
    story: "one client may open all event streams",
    tests: ["test/edge/Places.test.ts", "test/edge/EventStreams.test.ts"],
    file: "src/edge/admission/Places.ts",
    of: "Places.enter",
    call: "#find",
    by: "() => undefined",
  },
  {
    name: "closed-under-a-request",
    story: "a persistent connection is closed while a request that has arrived waits to be read",
    tests: ["test/rpc/KeepAlive.test.ts"],
    virtual: [],
    file: "src/edge/server/Server.ts",
    of: "closeIdle",
    by: "(socket) => { socket.destroy() }",
  },
]

export const findings: ReadonlyArray<Finding> = stated.map((finding) =>
  "changes" in finding ? finding : { ...finding, changes: [finding] },
)

export const named = (name: string): Finding => {
  const found = findings.find((finding) => finding.name === name)
  if (found === undefined) throw new Error(`${name}: expected one of ${findings.map(({ name }) => name).join(", ")}`)
  return found
}
