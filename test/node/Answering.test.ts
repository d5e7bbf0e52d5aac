import { expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { Network, offline } from "../../src/network/Network.js"
import * as Answering from "../../src/node/engine/Answering.js"
import * as Supervisor from "../../src/node/lifecycle/Supervisor.js"
import type { Owner } from "../../src/node/signatures/FairQueue.js"
import type { DiskQuestion } from "../../src/replica/messages/Message.js"
import * as Storage from "../../src/storage/Storage.js"
import * as world from "../storage/world.js"

const STRANGERS = 20

const question: DiskQuestion = { _tag: "AskVertices", hashes: [] }
const stranger = (number: number): Owner => ({ peer: `stranger ${number}`, standing: "stranger" })

it.live("does not charge strangers for the time their answers wait for the writer", () =>
  Effect.gen(function* () {
    const all = yield* Deferred.make<void>()
    let answered = 0
    const send = () => Effect.suspend(() => (++answered === STRANGERS ? Deferred.succeed(all, undefined) : Effect.void))
    let now = 0
    const gathered = Effect.sync(() => {
      now += 60_000
    })
    const replica = { answer: () => expect.unreachable(), isWithheld: () => false }
    const bulkhead = { failed: (_: string, error: unknown) => expect.unreachable(String(error)) }
    const answers = yield* Answering.make(replica, bulkhead, gathered, () => now).pipe(
      Effect.provideServiceEffect(
        Network,
        Effect.map(Network, (network) => Network.of({ ...network, send })),
      ),
    )
    for (let i = 0; i < STRANGERS; i++) answers.ask(stranger(i), question)
    yield* Deferred.await(all)
    expect(answers.heldBack).toBe(0)
  }).pipe(
    Effect.provide(offline),
    Effect.provide(Supervisor.layer),
    Effect.provide(Storage.layer({ location: { _tag: "Ephemeral" }, genesis: world.genesis() })),
    Effect.provide(world.platform),
  ),
)
