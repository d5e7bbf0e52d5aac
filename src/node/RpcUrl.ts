/** Where the HTTP interface listens. `main` provides it, since the node imports nothing from the interface. */
import { Context } from "effect"

export class RpcUrl extends Context.Tag("udg/RpcUrl")<
  RpcUrl,
  {
    readonly url: string
  }
>() {}
