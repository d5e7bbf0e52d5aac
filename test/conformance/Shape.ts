/**
 * The shape of a JSON value. It returns a list of complaints, each with a place. An empty list means that every field
 * is there with the right type, and no others are.
 */
type Siblings = Readonly<Record<string, unknown>>

export type Shape = (value: unknown, where: string, siblings: Siblings) => ReadonlyArray<string>

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => JSON.stringify(value)?.slice(0, 80) ?? String(value)

/** A value that satisfies this predicate. */
export const value =
  (what: string, holds: (value: unknown) => boolean): Shape =>
  (value, where) =>
    holds(value) ? [] : [`${where}: ${what} expected, got ${shown(value)}`]

const matching = (what: string, pattern: RegExp): Shape =>
  value(what, (text) => typeof text === "string" && pattern.test(text))

export const integer = value("an integer from 0", (n) => Number.isSafeInteger(n) && Number(n) >= 0 && !Object.is(n, -0))
export const decimal = value("a number", (n) => typeof n === "number" && Number.isFinite(n))
export const boolean = value("a boolean", (b) => typeof b === "boolean")
export const text = value("a string", (s) => typeof s === "string")
export const words = matching("a string with something in it", /\S/)
export const hex20 = matching("40 lower-case hex characters", /^[0-9a-f]{40}$/)
export const hex32 = matching("64 lower-case hex characters", /^[0-9a-f]{64}$/)
export const hex64 = matching("128 lower-case hex characters", /^[0-9a-f]{128}$/)
export const hex = matching("lower-case hex characters", /^([0-9a-f]{2})*$/)
export const bech32 = (prefix: string): Shape =>
  matching(`bech32m with ${prefix}1`, new RegExp(`^${prefix}1[02-9ac-hj-np-z]{38}$`))
export const timestamp = value("milliseconds since 1970, not long ago", (n) => {
  const age = Date.now() - Number(n)
  return Number.isSafeInteger(n) && age > -60_000 && age < 3_600_000
})

export const exactly = (...allowed: ReadonlyArray<unknown>): Shape =>
  value(`one of ${allowed.map(shown).join(", ")}`, (given) => allowed.includes(given))

export const nullable =
  (shape: Shape): Shape =>
  (value, where, siblings) =>
    value === null ? [] : shape(value, where, siblings)

export const list =
  (shape: Shape, { least = 0, most = Number.POSITIVE_INFINITY } = {}): Shape =>
  (value, where) => {
    if (!Array.isArray(value)) return [`${where}: a list expected, got ${shown(value)}`]
    const count = value.length >= least && value.length <= most ? [] : [`${where}: ${value.length} entries`]
    return [...count, ...value.flatMap((item, i) => shape(item, `${where}[${i}]`, {}))]
  }

/** The amount of the neighbouring field in coins, with up to eight decimals. */
export const coinsOf =
  (name: string): Shape =>
  (value, where, siblings) => {
    const expected = Number(siblings[name]) / 100_000_000
    return value === expected
      ? []
      : [`${where}: ${expected} expected, as ${name} is ${shown(siblings[name])}, got ${shown(value)}`]
  }

/** The same value as the neighbouring field. */
export const sameAs =
  (name: string): Shape =>
  (value, where, siblings) =>
    value === siblings[name] ? [] : [`${where}: the same as ${name} expected`]

/** Exactly these fields, and optionally those of `maybe`. */
export const record =
  (fields: Readonly<Record<string, Shape>>, maybe: Readonly<Record<string, Shape>> = {}): Shape =>
  (value, where) => {
    if (!isObject(value)) return [`${where}: an object expected, got ${shown(value)}`]
    const missing = Object.keys(fields).filter((name) => !Object.hasOwn(value, name))
    const unexpected = Object.keys(value).filter((name) => !Object.hasOwn(fields, name) && !Object.hasOwn(maybe, name))
    const wrong = Object.entries({ ...fields, ...maybe }).flatMap(([name, shape]) =>
      Object.hasOwn(value, name) ? shape(value[name], `${where}.${name}`, value) : [],
    )
    return [
      ...missing.map((name) => `${where}.${name}: missing`),
      ...unexpected.map((name) => `${where}.${name}: unexpected`),
      ...wrong,
    ]
  }

/** One of these shapes. Reports the complaints of the closest one. */
export const either =
  (...shapes: ReadonlyArray<Shape>): Shape =>
  (value, where, siblings) =>
    shapes
      .map((shape) => shape(value, where, siblings))
      .reduce((best, each) => (each.length < best.length ? each : best))

export const complaints = (shape: Shape, value: unknown): ReadonlyArray<string> => shape(value, "body", {})
