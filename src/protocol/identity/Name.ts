/** Registered names: the part after the `@` of `@alice`. */
import { Schema } from "effect"
import type { Reader } from "../encoding/Binary.js"
import type * as Kinds from "../numbers/Kinds.js"

export type Name = Kinds.Name

export const MAX_BYTES = 20

export const PATTERN = "[a-z0-9][a-z0-9-]{1,18}[a-z0-9]"
const NAME = new RegExp(`^${PATTERN}$`)

export const isName = (text: string): text is Name => NAME.test(text)

const named = (): Schema.Schema<Name, string> =>
  Schema.String.pipe(
    Schema.filter((text): text is Name => isName(text), {
      identifier: "Name",
      description: "a registered name, without the @",
      jsonSchema: { type: "string", pattern: NAME.source },
      message: () => "3 to 20 characters of a-z, 0-9 and -, no - at either end",
    }),
  )

export const schema = /* @__PURE__ */ named()

export const read = (reader: Reader): Name => {
  const text = reader.text8(MAX_BYTES)
  if (isName(text)) return text
  reader.fail("not a name")
  return "" as Name
}
