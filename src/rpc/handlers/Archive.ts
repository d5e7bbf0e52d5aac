/** A node keeps what it needs. It knows who can answer the rest. */
import { Effect } from "effect"
import * as Failure from "../api/Failure.js"
import { group } from "./Group.js"

export const notKept = new Failure.NotServed({
  message: "a node does not keep what this takes; ask a gateway, which has an archive behind it",
})

const refuse = () => Effect.fail(notKept)

export const layer = group("archive", (handlers) =>
  handlers.handle("balances", refuse).handle("richest", refuse).handle("statistics", refuse),
)
