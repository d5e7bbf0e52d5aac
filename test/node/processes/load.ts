/**
 * A node under load that records, outside its files, every header it sends and every transaction that reads as final.
 * At its start it looks up everything recorded before and reports what it has lost. After a power cut it has some time
 * to decide the last commits again.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { Effect, Option, Stream } from "effect"
import { Engine } from "../../../src/node/engine/Engine.js"
import { Supervisor } from "../../../src/node/lifecycle/Supervisor.js"
import { Mempool } from "../../../src/node/reads/Mempool.js"
import { State } from "../../../src/node/reads/State.js"
import type { Address } from "../../../src/protocol/identity/Address.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import type { PeerId } from "../../../src/replica/messages/Peer.js"
import * as world from "../world.js"

const [, , directory = "", log = "", patienceMs = "0", signerKey, signerPort] = process.argv

/** With a signer, the network has been founded before. */
const settings =
  signerKey === undefined
    ? {}
    : {
        roundMs: Option.none(),
        signer: Option.some({ host: "127.0.0.1", port: Number(signerPort), key: signerKey as PeerId }),
      }

const tell = (...words: ReadonlyArray<unknown>): void => appendFileSync(log, `${words.join(" ")}\n`)

const told = (): ReadonlyArray<Hash> =>
  existsSync(log)
    ? readFileSync(log, "utf8")
        .split("\n")
        .flatMap((line) => (line.startsWith("final ") ? [line.slice("final ".length) as Hash] : []))
    : []

/** The latest ones. What survived one restart is checked again at the end. */
const LOOKED_FOR = 200

const lookForOld = Effect.gen(function* () {
  const state = yield* State
  const lost = (id: Hash) =>
    Effect.map(Effect.option(state.transaction(id)), (known) =>
      Option.match(known, { onNone: () => true, onSome: ({ _tag }) => _tag !== "Finalized" }),
    )
  const until = Date.now() + Number(patienceMs)
  let missing: ReadonlyArray<Hash> = told().slice(-LOOKED_FOR)
  for (;;) {
    missing = yield* Effect.filter(missing, lost)
    if (missing.length === 0 || Date.now() >= until) break
    yield* Effect.sleep("20 millis")
  }
  for (const id of missing) tell("lost", id)
})

const pay = Effect.gen(function* () {
  const mempool = yield* Mempool
  for (let n = 1; ; n++) {
    const to = n.toString(16).padStart(40, "0") as Address
    const transaction = yield* world.payment(to, n)
    yield* Effect.either(mempool.submit(transaction))
    yield* Effect.sleep("1 millis")
  }
})

const watch = Effect.gen(function* () {
  const { events } = yield* Engine
  const state = yield* State
  yield* Stream.runForEach(events, (event) =>
    event._tag !== "Executed"
      ? Effect.void
      : Effect.forEach(
          event.vertices.flatMap(({ body }) => body.transactions),
          ({ id }) =>
            Effect.map(state.transaction(id), (known) => {
              if (known._tag === "Finalized") tell("final", id)
            }),
        ),
  )
})

const program = Effect.gen(function* () {
  const supervisor = yield* Supervisor
  yield* lookForOld
  tell("running")
  yield* Effect.fork(watch)
  yield* Effect.fork(pay)
  return yield* supervisor.ended
}).pipe(
  Effect.provide(
    world.node(
      directory,
      settings,
      world.overheard(({ header }) => tell("header", header.epoch, header.round, header.hash)),
    ),
  ),
  Effect.tapErrorCause((cause) => Effect.sync(() => tell("ended", String(cause).replaceAll("\n", " ")))),
)

Effect.runFork(program)
