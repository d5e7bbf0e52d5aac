/** What happens in a node and is news to everybody else, told once it is on the disk. */

import type { Round } from "../../protocol/numbers/Counter.js"
import type { Output } from "../../replica/output/Output.js"

type News = Exclude<
  Output,
  { readonly _tag: "Send" | "Broadcast" | "Serve" | "Write" | "Fatal" | "Misbehaved" | "JoinStopped" }
>

export type Happening =
  | News
  /** The highest round is a new one. */
  | { readonly _tag: "RoundReached"; readonly round: Round }

export const isNews = (output: Output): output is News => {
  switch (output._tag) {
    case "Send":
    case "Broadcast":
    case "Serve":
    case "Write":
    case "Fatal":
    case "Misbehaved":
    case "JoinStopped":
      return false
    default:
      return true
  }
}
