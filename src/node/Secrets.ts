/**
 * The second line of defence of "a secret key never appears in a log": whoever logs does not log secrets, and if it
 * happens all the same, a field or a phrase that is named like a secret does not get out.
 */
const hidden = "[redacted]"

const secretName = /(?:secret|secretkey|privatekey|passphrase|password|seed)$/

/** `"secret_key":"…"`, `secretKey=…`, `seed: …`, also inside JSON inside a string; unquoted to the end of the clause. */
const secretPhrase =
  /((?:secret[_-]?key|private[_-]?key|passphrase|password|seed)\\*["']?\s*[:=]\s*)("(?:[^"\\]|\\.)*"|[^,;}\])\r\n]+)/gi

const deepest = 6
const widest = 100

export const isSecretName = (name: string): boolean => secretName.test(name.toLowerCase().replaceAll(/[^a-z0-9]/g, ""))

/** The text without what it says about secrets. */
export const redactText = (text: string): string => text.replaceAll(secretPhrase, `$1${hidden}`)

const entries = (value: object): ReadonlyArray<readonly [string, unknown]> =>
  value instanceof Map ? [...value].map(([key, held]) => [String(key), held]) : Object.entries(value)

const plainObject = (value: object, depth: number): unknown => {
  if (depth >= deepest) return "[…]"
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("hex")
  if (value instanceof Error) return redactText(`${value.name}: ${value.message}`)
  if ("toJSON" in value && typeof value.toJSON === "function") return plain(value.toJSON(), depth + 1)
  if (Array.isArray(value) || value instanceof Set)
    return [...value].slice(0, widest).map((element) => plain(element, depth + 1))
  return Object.fromEntries(
    entries(value)
      .slice(0, widest)
      .map(([key, held]) => [key, isSecretName(key) ? hidden : plain(held, depth + 1)]),
  )
}

/** The value as JSON can hold it, bounded in depth and width and without secrets. */
export const plain = (value: unknown, depth = 0): unknown => {
  switch (typeof value) {
    case "string":
      return redactText(value)
    case "number":
      return Number.isFinite(value) ? value : String(value)
    case "boolean":
    case "undefined":
      return value
    case "object":
      return value === null ? null : plainObject(value, depth)
    default:
      return String(value)
  }
}

/** The fields under their own names, made plain; what is named like a secret is hidden whatever it holds. */
export const redactFields = (fields: Iterable<readonly [string, unknown]>): Record<string, unknown> =>
  Object.fromEntries([...fields].map(([name, value]) => [name, isSecretName(name) ? hidden : plain(value)]))
