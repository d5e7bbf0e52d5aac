/** The request cannot be carried out; nothing has changed. */
import { Data } from "effect"

export class ControlRefused extends Data.TaggedError("ControlRefused")<{ readonly message: string }> {}

export const refused = (message: string): ControlRefused => new ControlRefused({ message })
