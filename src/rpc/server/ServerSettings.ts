/** This interface's settings for the server in front of it, on a node and on a gateway. */
import { Effect } from "effect"
import type { OnAnswer } from "../../edge/server/Responder.js"
import type * as Server from "../../edge/server/Server.js"
import * as Access from "../api/Access.js"
import * as Failure from "../api/Failure.js"
import { SCRIPT } from "../documents/ReferenceScript.js"
import { STYLE } from "../documents/ReferenceStyle.js"
import * as AccessLog from "./AccessLog.js"
import * as RequestSpans from "./RequestSpans.js"

type Settings = Pick<Server.Settings, "limit" | "livenessPath" | "words" | "inline" | "closed" | "isGuarded">

/**
 * Endpoints that give away coins, keys or signatures are closed on a mainnet, and elsewhere not open to arbitrary
 * pages.
 */
export const settings = ({ isMainnet }: { readonly isMainnet: boolean }): Settings => ({
  limit: Access.globalLimit,
  livenessPath: Access.livenessPath,
  words: {
    names: "start the node with --rpc-name NAME, or with --trusted-proxy for a proxy in between",
    pages:
      "ask this node for coins, keys or signatures: sign the transaction in the page and send it to /tx/submit, or start " +
      "the node with --rpc-name and the host of the page",
  },
  inline: { scripts: [SCRIPT], styles: [STYLE] },
  closed: ({ annotation, method, path }) => {
    const instead = annotation(Access.TestnetOnly)
    if (!isMainnet || instead === undefined) return undefined
    return new Failure.TestnetOnly({ message: `${method} ${path} works on a testnet only: ${instead}` })
  },
  isGuarded: ({ annotation }) => annotation(Access.TestnetOnly) !== undefined,
})

/** Passes every answer to the log, and to a trace if there is one. */
export const observed = (next: OnAnswer) => Effect.flatMap(RequestSpans.over(next), AccessLog.over)
