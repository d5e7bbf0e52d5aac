/**
 * The way out of the replica. Writes and events go to the writer in order; messages are sent at once, in theirs. No
 * message waits for a write here: the replica itself holds back messages that depend on one until `written` reports it.
 */
import { Effect } from "effect"
import * as MessageCodec from "../../network/MessageCodec.js"
import { Network } from "../../network/Network.js"
import type { Output, Outputs } from "../../replica/output/Output.js"
import { fromFatal, JoinStopped } from "../lifecycle/Ending.js"
import type { OpenQuestions } from "../signatures/OpenQuestions.js"
import type { Answers } from "./Answers.js"
import type { Counters } from "./Counters.js"
import type { NodeEvent } from "./NodeEvent.js"
import type { Settling } from "./Settling.js"
import type { Task } from "./Writer.js"

export interface Surroundings {
  readonly answers: Answers
  readonly asked: OpenQuestions
  readonly counters: Counters
  readonly settling: Settling
  readonly write: (task: Task) => void
  /** Asks the remote signer, whose answer arrives as an input. */
  readonly askSigner: (asked: Extract<Output, { readonly _tag: "Sign" }>) => void
}

export const make = ({ answers, asked, counters, settling, write, askSigner }: Surroundings) =>
  Effect.gen(function* () {
    const network = yield* Network
    /** Runs after everything handed over before. */
    const publish = (event: NodeEvent): void => write({ _tag: "Publish", event })

    const keep = (output: Extract<Output, { readonly _tag: "Write" }>): void => {
      settling.begin(output.write)
      write(output)
    }

    /** The remaining effect to run; null if everything was handed over. */
    const carryOut = (output: Output): Effect.Effect<void> | null => {
      counters.putOut(output)
      switch (output._tag) {
        case "Send":
          if (MessageCodec.isQuestion(output.message)) asked.asks(output.to, output.message)
          return network.send(output.to, output.message)
        case "Broadcast":
          return network.broadcast(output.message)
        case "Serve":
          // Unrequested offers come after strangers' questions.
          answers.ask({ peer: output.to, standing: "stranger", network: "offers" }, output.question)
          return null
        case "Write":
          keep(output)
          return null
        case "Sign":
          askSigner(output)
          return null
        case "TakenIn":
        case "Joining":
          publish(output)
          return null
        case "Misbehaved":
          return network.misbehaved(output.peer, output.error._tag)
        case "JoinStopped":
          write({ _tag: "End", ending: new JoinStopped({ problem: output.problem }) })
          return null
        case "Fatal":
          write({ _tag: "End", ending: fromFatal(output.fatal) })
          return null
      }
    }

    return {
      publish,
      carryOut: (outputs: Outputs): Effect.Effect<void> =>
        Effect.suspend(() => {
          const left = outputs.flatMap((output) => carryOut(output) ?? [])
          return left.length === 0 ? Effect.void : Effect.all(left, { discard: true })
        }),
      /** Hands over the writes and drops everything else: for the end, when nothing listens any more. */
      keepOf: (outputs: Outputs): void => {
        for (const output of outputs) if (output._tag === "Write") keep(output)
      },
    }
  })

export type Outgoing = Effect.Effect.Success<ReturnType<typeof make>>
