/** What messages are of use for, as judged before any signature is verified. */
import type * as Core from "../consensus/Core.js"
import type { UseOfHeartbeat } from "./asking/SignedGossip.js"
import type { Message } from "./messages/Message.js"

export type Use = Core.Use | { readonly _tag: UseOfHeartbeat }

/** What is judged as a whole; vertices are judged one by one, by their headers: see `Core.useOf`. */
export type Judged = Exclude<Message, { _tag: "Vertices" | "Rounds" | "Transactions" }>
