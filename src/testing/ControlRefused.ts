/** What was asked for cannot be done; nothing has changed. */
import { Data } from "effect"

export class ControlRefused extends Data.TaggedError("ControlRefused")<{ readonly message: string }> {}

export const refused = (message: string): ControlRefused => new ControlRefused({ message })
