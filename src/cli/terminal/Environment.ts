import { Config, Effect } from "effect"

/** The text of one environment variable; empty when it is not set. */
export const variable = (name: string): Effect.Effect<string> => Effect.orElseSucceed(Config.string(name), () => "")
