/** Where the HTTP interface listens. `main` provides it, since the node imports nothing from the interface. */
import { Context } from "effect"

export class RpcUrl extends Context.Tag("udg/RpcUrl")<
  RpcUrl,
  {
    /** As reached from this machine. */
    readonly url: string
  }
>() {}
