/** Everything served besides endpoints: the explorer, and the documentation as text. */
import { Effect } from "effect"
import * as Manual from "./Manual.js"
import * as Site from "./Site.js"

export const built = (version: string) =>
  Effect.map(
    Effect.all([Site.built, Manual.built(version)]),
    ([explorer, manual]): Site.Site =>
      (path, request) =>
        explorer(path, request) ?? manual(path, request),
  )
