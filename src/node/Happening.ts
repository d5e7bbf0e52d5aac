/** What of a replica's outputs is news to everybody else, told once it is on the disk. */
import type { Output } from "../consensus/replica/Output.js"

export type Happening = Exclude<
  Output,
  { readonly _tag: "Send" | "Broadcast" | "Serve" | "Write" | "Fatal" | "Misbehaved" | "JoinStopped" }
>

export const isHappening = (output: Output): output is Happening => {
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
