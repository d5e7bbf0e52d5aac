/** Requests that a search makes. */
import { Option, Schema } from "effect"
import * as Address from "../../protocol/identity/Address.js"
import * as Labels from "../live/Labels.js"
import * as Live from "../live/Live.js"
import * as Network from "../live/Network.js"
import { isMissing, node } from "../live/Node.js"
import * as PathSegment from "../live/PathSegment.js"
import type * as Search from "./Search.js"

/** Whether the node has it. Failures other than "not found" are passed on. */
const has = (answer: Promise<unknown>): Promise<boolean> =>
  answer.then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )

const MOST_LABELS = 5

const decode = Schema.decodeUnknownOption(Address.schema)

export const known: Search.Known = {
  transaction: (hash) => has(node.transactions.lookup({ path: { hash: PathSegment.hash(hash) } })),
  vertex: (hash) => has(node.dag.vertex({ path: { hash: PathSegment.hash(hash) } })),
  // What it finds is compared with the end of an address as lists abbreviate it.
  beginningWith: (prefix) =>
    Promise.all([node.core.search({ urlParams: { prefix } }), Network.loaded]).then(([found]) => found),
  name: (name) => has(node.core.balance({ path: { address: name } })),
  proposal: (id) => has(node.governance.proposal({ path: { id: PathSegment.proposal(id) } })),
  labelled: (text) =>
    Object.entries(Labels.labels.peek())
      .filter(([, label]) => label.toLowerCase().includes(text))
      .slice(0, MOST_LABELS)
      .map(([address, label]) => ({ address, label })),
  newestRound: () => Live.head.peek()?.round ?? 0,
  written: (address) => Option.match(decode(address), { onNone: () => address, onSome: Network.written }),
}
