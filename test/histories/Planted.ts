/** Faults in the shell around the replica that the histories must show. Every process of a network has them. */
import type * as Planting from "../support/Planting.js"

export interface Fault extends Planting.Fault {
  readonly story: string
  /** A rule that it breaks; null for a hardship that must break none. */
  readonly rule: string | null
  /** What goes wrong meanwhile; nothing by default. */
  readonly weather?: ReadonlyArray<string>
  readonly hasGateways?: boolean
}

const DISPATCHER = "src/edge/server/Dispatcher.ts"
const FEED = "src/rpc/handlers/EventFeed.ts"
const STATE = "src/node/reads/State.ts"
const WRITER = "src/node/engine/Writer.ts"

/** Commits reach the disk half a second late. */
const slowDisk: Planting.Change = {
  file: WRITER,
  of: "start",
  call: "Disk.keep",
  by: `(storage, batch, at) =>
    batch.together.some(({ _tag }) => _tag === "Executed")
      ? Effect.delay(Disk.keep(storage, batch, at), "500 millis")
      : Disk.keep(storage, batch, at)`,
}

/** Half of the time, a gateway does not notice new commits, as if its database were a replica that is behind. */
const lateGateway: Planting.Change = {
  file: "src/gateway/Archive.ts",
  of: "make",
  call: "Coalescing.make",
  by: `<Question, Answer, E>(all: (questions: ReadonlyArray<Question>) => Effect.Effect<Answer, E>) =>
    Effect.map(Coalescing.make(all), (ask) => {
      let last: Effect.Effect<Answer> | undefined
      return (question: Question) =>
        Effect.suspend((): Effect.Effect<Answer, E> => {
          if (last !== undefined && performance.now() % 3_000 < 1_500) return last
          return Effect.tap(ask(question), (told) => {
            last = Effect.succeed(told)
          })
        })
    })`,
}

/** A validator signs without asking what its key has signed elsewhere. */
const careless: ReadonlyArray<Planting.Change> = [
  { file: "src/consensus/SigningGuard.ts", of: "SigningGuard.maySign", by: "() => true" },
  { file: "src/consensus/SigningGuard.ts", of: "SigningGuard.mayShow", by: "() => true" },
]

export const faults: ReadonlyArray<Fault> = [
  {
    name: "slow-disk",
    story: "no fault: commits reach the disk half a second late",
    rule: null,
    weather: ["kill"],
    changes: [slowDisk],
  },
  {
    name: "unwritten-read",
    story: "answers do not wait until their commits are on the disk",
    rule: "stale",
    weather: ["kill"],
    changes: [
      slowDisk,
      { file: DISPATCHER, of: "Dispatcher.#finish", call: "memory.isWritten", by: "() => true" },
      {
        file: DISPATCHER,
        of: "Dispatcher.#tell",
        by: "(exchange, endpoint, known) => { this.#options.responder.write(exchange, endpoint.status, known) }",
      },
    ],
  },
  {
    name: "event-before-write",
    story: "events report a commit before it is on the disk",
    rule: "disappeared",
    changes: [
      slowDisk,
      {
        file: "src/node/engine/Engine.ts",
        of: "make",
        call: "Watching.countingSupply",
        by: `(replica, perform) =>
          Watching.countingSupply(replica, (task) => {
            if (task._tag === "Write" && task.write._tag === "Executed") events.unsafeOffer(task.write)
            perform(task)
          })`,
      },
      {
        file: "src/node/engine/Engine.ts",
        of: "publishTo",
        by: `(audience) => {
          const told = original(audience)
          const untold = original({ ...audience, events: Effect.runSync(PubSub.unbounded<NodeEvent>()) })
          return (event: NodeEvent) => (event._tag === "Executed" ? untold(event) : told(event))
        }`,
      },
    ],
  },
  {
    name: "gap-in-lookups",
    story: "a transaction between the mempool and the disk is not found",
    rule: "forgotten",
    changes: [slowDisk, { file: "src/node/engine/Settling.ts", of: "Settling.get", by: "() => Option.none()" }],
  },
  {
    name: "lookup-of-this-epoch",
    story: "lookups find only transactions of the current epoch",
    rule: "disappeared",
    changes: [
      {
        file: STATE,
        of: "make",
        call: "storage.transactions.byId",
        by: `(id) =>
          Effect.map(
            storage.transactions.byId(id),
            Option.filter(({ leaderRound }) => leaderRound >= view.read.epoch.firstRound),
          )`,
      },
    ],
  },
  {
    name: "final-reported-failed",
    story: "a tenth of all lookups reports an applied transaction as failed",
    rule: "changed",
    changes: [
      {
        file: "src/rpc/handlers/Transactions.ts",
        of: "finalizedOutcome",
        by: `(known, validatorOf) =>
          known.recorded.sequence % 10 === 0
            ? { ...original(known, validatorOf), applied: false, failure: "InsufficientBalance: 0 sats" }
            : original(known, validatorOf)`,
      },
    ],
  },
  {
    name: "cached-balance",
    story: "a node answers with the balance that it read up to two seconds ago",
    rule: "stale",
    changes: [
      {
        file: "src/rpc/handlers/Core.ts",
        of: "balanceOf",
        by: `(address, prefix, account, nextNonce) => {
          const now = performance.now()
          const known: { readonly at: number; readonly told: typeof Api.Balance.Type } | undefined =
            Reflect.get(globalThis, address)
          if (known !== undefined && now - known.at < 2_000) return known.told
          const told = original(address, prefix, account, nextNonce)
          Reflect.set(globalThis, address, { at: now, told })
          return told
        }`,
      },
    ],
  },
  {
    name: "nonce-of-the-account",
    story: "the next nonce does not count pending transactions",
    rule: "nonce",
    changes: [
      {
        file: STATE,
        of: "make",
        call: "view.pool.nextNonce",
        by: "(address) => view.read.account(address).nonce",
      },
    ],
  },
  {
    name: "statement-without-fee",
    story: "the changes in a statement do not contain the fee",
    rule: "statement",
    changes: [
      {
        file: "src/rpc/handlers/Statement.ts",
        of: "ofTransaction",
        by: `(address, recorded) => {
          const told = original(address, recorded)
          return { ...told, change: told.change + (told.fee ?? 0) }
        }`,
      },
    ],
  },
  {
    name: "statement-skips-a-row",
    story: "each page of a statement begins one transaction too late",
    rule: "statement",
    changes: [
      {
        file: "src/storage/tables/Statements.ts",
        of: "cursorAfter",
        by: `(before, entries) => {
          const { sequence, position } = original(before, entries)
          return { sequence: sequence === null ? null : sequence - 1, position }
        }`,
      },
    ],
  },
  {
    name: "supply-in-memory",
    story: "the status pairs the round on the disk with the supply in memory",
    rule: "supply",
    changes: [
      slowDisk,
      {
        file: "src/node/reads/Metrics.ts",
        of: "make",
        call: "engine.written",
        by: "() => ({ ...engine.written(), totals: view.read.totals })",
      },
    ],
  },
  {
    name: "event-lost",
    story: "a reader that reconnects misses one event",
    rule: "lost event",
    changes: [
      {
        file: FEED,
        of: "Feed.#behind",
        by: `(id) => {
          const all = original(id)
          const lost = all.find(({ event }) => event.type === "transaction" && event.status === "finalized")
          return all.filter((one) => one !== lost)
        }`,
      },
    ],
  },
  {
    name: "event-twice",
    story: "a reader that reconnects gets the last events again",
    rule: "twice",
    changes: [{ file: FEED, of: "Feed.#behind", by: "(id) => original(id - 50)" }],
  },
  {
    name: "mempool-not-kept",
    story: "a node that restarts has forgotten the transactions that it accepted",
    rule: "forgotten",
    weather: ["kill"],
    changes: [
      {
        file: "src/node/engine/Disk.ts",
        of: "keepLast",
        call: "storage.pending.update",
        by: "(_, removed) => storage.pending.update([], removed)",
      },
    ],
  },
  {
    name: "careless-nodes",
    story: "no fault: two nodes at one signer ignore each other, so that only the signer keeps them from equivocating",
    rule: null,
    weather: ["two nodes at one signer"],
    changes: careless,
  },
  {
    name: "signer-forgets",
    story: "a signer signs a second vertex for a slot, when two nodes ignore each other",
    rule: "equivocation",
    weather: ["two nodes at one signer"],
    changes: [
      ...careless,
      {
        file: "src/signer/Judge.ts",
        of: "ofVertex",
        by: `(memory, statement, digest) =>
          original({ ...memory, taken: memory.checkpointsTaken }, statement, digest)`,
      },
    ],
  },
  {
    name: "gateway-goes-back",
    story: "every other second, a gateway does not know the last twenty commits",
    rule: "disappeared",
    hasGateways: true,
    changes: [
      {
        file: "src/gateway/State.ts",
        of: "make",
        call: "finalized.byId",
        by: `(sql, id) =>
          Effect.map(
            finalized.byId(sql, id),
            Option.filter(
              ({ recorded }) => recorded.commitIndex < archive.asOf() - 20 || performance.now() % 2_000 < 1_000,
            ),
          )`,
      },
    ],
  },
  {
    name: "gateway-caches",
    story: "a gateway answers with the account that it read up to two seconds ago",
    rule: "stale",
    hasGateways: true,
    changes: [
      {
        file: "src/gateway/Accounts.ts",
        of: "make",
        call: "Coalescing.make",
        by: `<Question, Answer, E>(all: (questions: ReadonlyArray<Question>) => Effect.Effect<Answer, E>) =>
          Effect.map(Coalescing.make(all), (ask) => {
            const known = new Map<Question, { readonly at: number; readonly told: ReturnType<typeof ask> }>()
            return (address: Question) => {
              const before = known.get(address)
              const now = performance.now()
              if (before !== undefined && now - before.at < 2_000) return before.told
              return Effect.tap(ask(address), (told) => known.set(address, { at: now, told: Effect.succeed(told) }))
            }
          })`,
      },
    ],
  },
  {
    name: "late-gateway",
    story: "no fault: half of the time, a gateway does not notice new commits",
    rule: null,
    hasGateways: true,
    changes: [lateGateway],
  },
  {
    name: "commit-header-ignored",
    story: "a gateway ignores Udg-Commit",
    rule: "stale",
    hasGateways: true,
    changes: [
      lateGateway,
      { file: "src/edge/server/Freshness.ts", of: "wantedBy", by: "() => Either.right(undefined)" },
    ],
  },
  {
    name: "events-reversed",
    story: "a gateway reports the transactions of a commit in reverse order",
    rule: "order",
    hasGateways: true,
    changes: [
      {
        file: "src/gateway/Events.ts",
        of: "Telling.committed",
        by: "({ events, leaderRound }) => original({ events: [...events].reverse(), leaderRound })",
      },
    ],
  },
  {
    name: "gateway-skips-events",
    story: "of the commits that come together, a gateway reports only the last one",
    rule: "lost event",
    weather: ["PostgreSQL paused"],
    hasGateways: true,
    changes: [
      {
        file: "src/gateway/Events.ts",
        of: "fromArchive",
        call: "CommitEvents.read",
        by: `(sql, first, last, validatorOf) =>
          Effect.map(CommitEvents.read(sql, first, last, validatorOf), (commits) => commits.slice(-1))`,
      },
    ],
  },
  {
    name: "archive-leaves-out",
    story: "an archive leaves out the transactions of every tenth commit",
    rule: "statement",
    hasGateways: true,
    changes: [
      {
        file: "src/archive/Archive.ts",
        of: "append",
        call: "rows.add",
        by: "(one) => rows.add(one.execution.commit.index % 10 === 5 ? { ...one, vertices: [] } : one)",
      },
    ],
  },
  {
    name: "archive-skips",
    story: "an archive does not record every tenth commit, and then refuses the next one",
    rule: "behind",
    hasGateways: true,
    changes: [
      {
        file: "src/archive/Archive.ts",
        of: "append",
        call: "rows.add",
        by: "(one) => (one.execution.commit.index % 10 === 5 ? undefined : rows.add(one))",
      },
    ],
  },
]

export const named = (name: string): Fault | undefined => faults.find((fault) => fault.name === name)

/** Whether a network without processes can have it: it has no signers, archives and gateways. */
export const isVirtual = ({ changes, hasGateways = false }: Fault): boolean =>
  !hasGateways && !changes.some(({ file }) => file.startsWith("src/signer/"))
