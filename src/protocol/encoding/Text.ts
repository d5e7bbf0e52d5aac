/** Text that the wire can carry: well-formed Unicode, limited in UTF-8 bytes. */
import { Schema } from "effect"
import { utf8Length } from "./Binary.js"

export const schema = (min: number, max: number): Schema.Schema<string> =>
  Schema.String.pipe(
    Schema.filter(
      (text) => {
        const length = utf8Length(text)
        return length !== undefined && length >= min && length <= max
      },
      {
        // A text never has more characters than bytes, so the bound also holds for JSON Schema's count.
        jsonSchema: { type: "string", ...(min > 0 ? { minLength: 1 } : {}), maxLength: max },
        message: () => `valid Unicode text of ${min} to ${max} bytes in UTF-8`,
      },
    ),
  )
