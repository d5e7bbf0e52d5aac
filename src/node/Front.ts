/**
 * What is built over the node and served to people. It is composed above (`main` hands it in), since the node knows
 * nobody who asks it; here it is only told where to find it.
 */
import { Context } from "effect"

export class Front extends Context.Tag("udg/Front")<
  Front,
  {
    /** Where this machine reaches it. */
    readonly url: string
  }
>() {}
