#!/usr/bin/env node
import { readFileSync } from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Effect } from "effect"
import * as Terminal from "./cli/terminal/Terminal.js"
import * as Udg from "./cli/Udg.js"

// The one place that is as far from package.json in src/ as in dist/.
const { version }: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"))

const call = await Udg.find(version, process.argv.slice(2))

NodeRuntime.runMain(Effect.provide(Udg.program(call), Terminal.layer), {
  disableErrorReporting: true,
  disablePrettyLogger: true,
  teardown: (exit, end) => end(Udg.exitCode(exit, call)),
})
