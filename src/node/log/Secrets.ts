/**
 * The second line of defence for "a secret key never appears in a log". Code must not log secrets; if it does, fields
 * and phrases named like a secret are hidden. Logging a value never throws into the program or keeps it busy.
 */
const hidden = "[redacted]"
const unprintable = "[unprintable]"
const leftOut = "[…]"

const secretName = /(?:secret|secretkey|privatekey|passphrase|password|seed)$/

/** The names in `secretName` as they may appear in a phrase. */
const phraseName = /(?:secret(?:[ _-]?key)?|private[ _-]?key|passphrase|password|seed)/

/** Ends at the same quote with as many backslashes before it, as in JSON inside JSON inside a string. */
const quotedValue = /(?<escape>\\*)(?<quote>["'`])[\s\S]*?(?<!\\)\k<escape>\k<quote>/

/**
 * After a quoted name, up to the end of the JSON value; otherwise to the end of the line, since a passphrase can
 * contain anything.
 */
const bareValue = /(?<=["'`]\s*[:=]\s*)(?!\\*["'`])[^,}\]\r\n]+|[^\r\n]+/

/** `"secret_key":"…"`, `'secretKey': '…'`, `client_secret=…`, `seed: …`. */
const secretPhrase = new RegExp(
  `(${phraseName.source}\\\\*["'\`]?\\s*[:=]\\s*)(?!\\[redacted\\])(?:${quotedValue.source}|${bareValue.source})`,
  "gi",
)

/** 32 bytes or more in hexadecimal, which may be a secret key. */
const possibleKey = /[0-9a-f]{64}/i

const deepest = 6
const widest = 100
const longest = 10_000
const mostBytes = 1_024
const mostValues = 1_000

const isSecretName = (name: string): boolean => secretName.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""))

export const mayBeKey = (text: string): boolean => possibleKey.test(text)

/** The text, bounded in length and without secrets. */
export const redactText = (text: string): string =>
  (text.length > longest ? `${text.slice(0, longest)}${leftOut}` : text).replaceAll(secretPhrase, `$1${hidden}`)

/** The result, or a placeholder if a getter, a `toJSON` or a proxy throws. */
export const orUnprintable = <A>(make: () => A): A | typeof unprintable => {
  try {
    return make()
  } catch {
    return unprintable
  }
}

/** The first values only: there may be millions, or no end. */
const first = <A>(values: Iterable<A>): ReadonlyArray<A> => {
  const taken: Array<A> = []
  for (const value of values) {
    if (taken.length === widest) break
    taken.push(value)
  }
  return taken
}

const entries = (value: object): ReadonlyArray<readonly [string, () => unknown]> =>
  value instanceof Map
    ? first(value).map(([key, held]) => [redactText(String(key)), () => held])
    : first(Object.keys(value)).map((key) => [redactText(key), () => Reflect.get(value, key)])

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string => {
  const shown = Buffer.from(buffer, byteOffset, Math.min(byteLength, mostBytes)).toString("hex")
  return byteLength > mostBytes ? `${shown}${leftOut}` : shown
}

/** Makes a bounded number of values plain: an object that contains itself twelve times has three million values. */
class Plainer {
  #left = mostValues

  value(value: unknown, depth: number): unknown {
    if (this.#left === 0) return leftOut
    this.#left--
    switch (typeof value) {
      case "string":
        return redactText(value)
      case "number":
        return Number.isFinite(value) ? value : String(value)
      case "boolean":
      case "undefined":
        return value
      case "object":
        return value === null ? null : orUnprintable(() => this.#object(value, depth))
      default:
        return orUnprintable(() => redactText(String(value)))
    }
  }

  #object(value: object, depth: number): unknown {
    if (depth >= deepest) return leftOut
    if (ArrayBuffer.isView(value)) return bytesOf(value)
    if (value instanceof Error) return redactText(`${value.name}: ${value.message}`)
    if ("toJSON" in value && typeof value.toJSON === "function") return this.value(value.toJSON(), depth + 1)
    if (Array.isArray(value) || value instanceof Set)
      return first<unknown>(value).map((element) => this.value(element, depth + 1))
    return Object.fromEntries(
      entries(value).map(([key, held]) => [key, isSecretName(key) ? hidden : this.#held(held, depth + 1)]),
    )
  }

  /** A field that throws does not affect the others. */
  #held(held: () => unknown, depth: number): unknown {
    return orUnprintable(() => this.value(held(), depth))
  }
}

/** The value as plain JSON without secrets, bounded in depth, width, length and number of values. */
export const plain = (value: unknown): unknown => new Plainer().value(value, 0)

/** The fields as plain values; those named like a secret are hidden. */
export const redactFields = (fields: Iterable<readonly [string, unknown]>): Record<string, unknown> => {
  const plainer = new Plainer()
  return Object.fromEntries(
    first(fields).map(([name, value]) => [name, isSecretName(name) ? hidden : plainer.value(value, 0)]),
  )
}
