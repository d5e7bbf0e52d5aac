/** A node refers queries that need an archive to a gateway. */
import { Effect } from "effect"
import * as Failure from "../api/Failure.js"
import { group } from "./Group.js"

export const notKept = new Failure.NotServed({
  message: "this node does not store the history this query needs; query a gateway, which has an archive",
})

const refuse = () => Effect.fail(notKept)

export const layer = group("archive", (handlers) =>
  handlers.handle("balances", refuse).handle("richest", refuse).handle("statistics", refuse),
)
