/** Bodies with one error each, of every kind, which a check of bodies must reject. */
export interface Mutant {
  readonly what: string
  readonly body: unknown
}

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [name: string]: Json }

const isList = (json: Json): json is ReadonlyArray<Json> => Array.isArray(json)

/** A value that no field can hold. */
const NONSENSE: Json = { nonsense: true }

/** The first entry of a list stands for all of them. */
const within = (json: Json, where: string, optional: ReadonlyArray<string>): ReadonlyArray<Mutant> => {
  if (isList(json)) {
    const [first, ...others] = json
    const inner = first === undefined ? [] : within(first, `${where}[0]`, optional)
    return [
      { what: `${where} is no list`, body: NONSENSE },
      ...inner.map(({ what, body }) => ({ what, body: [body, ...others] })),
    ]
  }
  if (typeof json !== "object" || json === null) return [{ what: `${where} is nonsense`, body: NONSENSE }]
  const dropped = Object.keys(json)
    .filter((name) => !optional.includes(name))
    .map((name) => ({
      what: `${where}.${name} is missing`,
      body: Object.fromEntries(Object.entries(json).filter(([other]) => other !== name)),
    }))
  const changed = Object.entries(json).flatMap(([name, value]) =>
    within(value, `${where}.${name}`, optional).map(({ what, body }) => ({ what, body: { ...json, [name]: body } })),
  )
  return [{ what: `${where} has one more field`, body: { ...json, surprise: 1 } }, ...dropped, ...changed]
}

export const of = (body: Json, optional: ReadonlyArray<string> = []): ReadonlyArray<Mutant> =>
  within(body, "body", optional)

/** Only errors in the outermost object. */
export const outermost = (body: Json, optional: ReadonlyArray<string> = []): ReadonlyArray<Mutant> =>
  of(body, optional).filter(({ what }) => /^body(\.\w+ is missing| has one more field)$/.test(what))
