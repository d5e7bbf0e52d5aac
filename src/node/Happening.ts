/** What happens in a node and is news to everybody else, told once it is on the disk. */
import type { Output } from "../consensus/replica/Output.js"
import type { Round } from "../protocol/Counter.js"

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
