/** Fixed-size byte strings written in hexadecimal: any case in, lower case inside and out. */
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
        jsonSchema: { type: "string", pattern: `^[0-9a-fA-F]{${bytes * 2}}$` },
        message: () => `${description}: ${bytes * 2} hex characters`,
      }),
    ),
    // Either way the other side has the characters looked at.
    Schema.String.pipe(Schema.filter((text): text is A => text.length === bytes * 2)),
    { strict: true, decode: (text) => text.toLowerCase(), encode: (text) => text },
  )
