/** Fixed-size byte strings in hexadecimal. Either case is accepted; lower case is stored and written. */
import { Schema } from "effect"

const HEX = /^[0-9a-fA-F]*$/

export const isHex = (text: string, bytes: number): boolean => text.length === bytes * 2 && HEX.test(text)

/** A schema for `bytes` bytes in hexadecimal, branded as `A`. */
export const schema = <A extends string>(
  identifier: string,
  bytes: number,
  description: string,
): Schema.Schema<A, string> =>
  Schema.transform(
    Schema.String.pipe(
      Schema.filter((text) => isHex(text, bytes), {
        identifier,
        title: identifier,
        description,
        jsonSchema: { type: "string", pattern: `^[0-9a-fA-F]{${bytes * 2}}$`, description },
        message: () => `${description}: ${bytes * 2} hex characters`,
      }),
    ),
    // In both directions the other side checks the characters.
    Schema.String.pipe(Schema.filter((text): text is A => text.length === bytes * 2)),
    { strict: true, decode: (text) => text.toLowerCase(), encode: (text) => text },
  )
