/** Connects the engine to its peers. */
import { Cause, Duration, Effect, Runtime, Schedule, type Scope, Stream } from "effect"
import { Network } from "../../network/Network.js"
import type { Genesis } from "../../protocol/epoch/Genesis.js"
import type * as Natural from "../../protocol/numbers/Natural.js"
import type { Replica } from "../../replica/Replica.js"
import type { Inbox } from "../../turns/Inbox.js"
import { Supervisor } from "../lifecycle/Supervisor.js"
import * as Log from "../log/Log.js"
import { Bulkhead } from "../signatures/Bulkhead.js"
import { OpenQuestions } from "../signatures/OpenQuestions.js"
import { SignatureThreads } from "../signatures/SignatureThreads.js"
import * as Answering from "./Answering.js"
import type { Answers } from "./Answers.js"
import { Incoming, type Input } from "./Incoming.js"
import * as Outgoing from "./Outgoing.js"

const log = Log.for("consensus")

const MEMBERS_TOLD_EVERY = Duration.seconds(2)

export const conversation = (
  replica: Replica,
  { networkId }: Genesis,
  {
    counters,
    settling,
    gathered,
    write,
    askSigner,
  }: Omit<Outgoing.Surroundings, "answers" | "asked"> & {
    readonly gathered: Effect.Effect<void>
  },
) =>
  Effect.gen(function* () {
    const network = yield* Network
    const signatures = yield* SignatureThreads.make()
    const fork = Runtime.runFork(yield* Effect.runtime<never>())
    const bulkhead = new Bulkhead(counters, (place, error) => {
      fork(log.error("a bug, please report it; the peer's message was dropped", { place }, Cause.die(error)))
    })
    const asked = new OpenQuestions()
    const answers = yield* Answering.make(replica, bulkhead, gathered)
    const incoming = new Incoming({ replica, networkId, network, fork, counters, signatures, asked, bulkhead })
    const outgoing = yield* Outgoing.make({ answers, asked, counters, settling, write, askSigner })
    return { signatures, answers, incoming, outgoing }
  })

/** Feeds the loop with judged messages and with changes of the connected peers. */
export const feedFromNetwork = (
  inbox: Inbox<Input>,
  incoming: Incoming,
  answers: Answers,
): Effect.Effect<void, never, Network | Supervisor | Scope.Scope> =>
  Effect.gen(function* () {
    const { inbound, changes } = yield* Network
    const supervisor = yield* Supervisor
    const inspection = incoming.inspection({
      ask: (owner, question) => answers.ask(owner, question),
      pass: (judged) => inbox.push(judged),
    })
    yield* supervisor.restarted(
      "network messages",
      inbound.handOn((received) => inspection.take(received)),
    )
    const connections = Stream.runForEach(changes, (peers) =>
      Effect.sync(() => {
        answers.keepOnly(new Set(peers.map(({ id }) => id)))
        inbox.push({
          _tag: "Connections",
          connections: peers.map(({ id, validator, direction }) => ({
            peer: id,
            validator,
            isDialled: direction === "outbound",
          })),
        })
      }),
    )
    yield* supervisor.restarted("network peers", Effect.zipRight(connections, Effect.never))
  })

/** Tells the network the committee, for which it reserves places and which it serves first. */
export const tellMembers = (replica: Replica): Effect.Effect<void, never, Network | Scope.Scope> =>
  Effect.gen(function* () {
    const { setMembers } = yield* Network
    let announced: Natural.Epoch | null = null
    const tell = Effect.suspend(() => {
      const { epoch, members } = replica.core.epoch.opening.record
      if (epoch === announced) return Effect.void
      announced = epoch
      return setMembers(members.map(({ address }) => address))
    })
    yield* tell
    yield* Effect.forkScoped(Effect.repeat(tell, Schedule.spaced(MEMBERS_TOLD_EVERY)))
  })
