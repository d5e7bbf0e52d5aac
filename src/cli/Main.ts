/** Runs the command that the command line names and exits with its code. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import * as Terminal from "./terminal/Terminal.js"
import * as Udg from "./Udg.js"

export const main = async (version: string, words: ReadonlyArray<string>): Promise<void> => {
  const call = await Udg.find(version, words)
  NodeRuntime.runMain(Effect.provide(Udg.program(call), Terminal.layer), {
    disableErrorReporting: true,
    disablePrettyLogger: true,
    teardown: (exit, end) => end(Udg.exitCode(exit, call)),
  })
}
