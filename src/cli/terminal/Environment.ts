import { Config, Effect } from "effect"

/** An environment variable's text; empty if unset. */
export const variable = (name: string): Effect.Effect<string> => Effect.orElseSucceed(Config.string(name), () => "")
