/**
 * Reads a value by its form and describes the first mistake, like the node's schemas and in the same words. Answers are
 * untrusted: whatever their content, the result is a value of the form or a complaint, never an exception.
 */

import type { Form } from "../../effect3/http/Outline.js"
import type { Complaint } from "../../effect3/schema/Complaint.js"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Hex from "../../protocol/encoding/Hex.js"

export type Reading = { readonly value: unknown } | { readonly complaint: Complaint }

type Path = ReadonlyArray<PropertyKey>
type Of<Kind extends Form["kind"]> = Extract<Form, { readonly kind: Kind }>

/** Requests must not have unknown fields; answers can. */
export interface Manner {
  readonly unknownFields: "error" | "ignore"
  /** The secret key that a value is read as; undefined if it is not one. */
  readonly secret: (value: unknown) => unknown
}

const read = (value: unknown): Reading => ({ value })
const wrong = (path: Path, expected: string, actual: unknown): Reading => ({
  complaint: { _tag: "Wrong", path, expected, actual },
})

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isInteger = (value: unknown, min: number, max: number): value is number =>
  Number.isSafeInteger(value) && !Object.is(value, -0) && Number(value) >= min && Number(value) <= max

const isText = (value: unknown, min: number, max: number): boolean => {
  // A text never has more characters than bytes, so long ones are rejected without encoding them.
  if (typeof value !== "string" || value.length > max) return false
  const bytes = Binary.utf8Length(value)
  return bytes !== undefined && bytes >= min && bytes <= max
}

const BYTES = /^(?:[0-9a-fA-F]{2})*$/

const bytesOf = (hex: string): Uint8Array =>
  Uint8Array.from({ length: hex.length / 2 }, (_, i) => Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))

/** The field of each member, if every member of a union is an object with a single field that names it. */
const tagsOf = (members: ReadonlyArray<Form>): ReadonlyArray<string> | undefined => {
  const tags = members.map((member) => (member.kind === "record" ? Object.keys(member.fields) : []))
  return tags.every(({ length }) => length === 1) ? tags.flat() : undefined
}

const describe = (form: Form): string => {
  switch (form.kind) {
    case "string":
      return "a string"
    case "number":
      return "a number"
    case "boolean":
      return "true or false"
    case "unknown":
      return "a value"
    case "bytes":
      return "bytes in hexadecimal"
    case "secret":
      return "64 hex characters"
    case "literal":
      return `${form.values.length === 1 ? "" : "one of "}${form.values.map((value) => JSON.stringify(value)).join(", ")}`
    case "list":
      return "an array"
    case "record":
      return "an object"
    case "union": {
      const tags = tagsOf(form.of)
      return tags === undefined
        ? form.of.map(describe).join(" or ")
        : `an object with one of the fields ${tags.join(", ")}`
    }
    default:
      return form.expected
  }
}

const list = (
  { of, min = 0, max = Number.POSITIVE_INFINITY }: Of<"list">,
  value: unknown,
  path: Path,
  way: Manner,
): Reading => {
  if (!Array.isArray(value) || value.length < min || value.length > max) return wrong(path, "an array", value)
  const values: Array<unknown> = []
  for (const [i, item] of value.entries()) {
    const reading = at(of, item, [...path, i], way)
    if ("complaint" in reading) return reading
    values.push(reading.value)
  }
  return read(values)
}

const record = (form: Of<"record">, value: unknown, path: Path, way: Manner): Reading => {
  const { fields, optional = [], isOpen = false } = form
  if (!isObject(value)) return wrong(path, "an object", value)
  const known = Object.keys(fields)
  const others = Object.keys(value).filter((name) => !Object.hasOwn(fields, name))
  const [first] = others
  if (first !== undefined && !isOpen && way.unknownFields === "error") {
    return { complaint: { _tag: "Unknown", path: [...path, first], known } }
  }
  const entries: Array<readonly [string, unknown]> = []
  for (const [name, form] of Object.entries(fields)) {
    const isGiven = Object.hasOwn(value, name) && value[name] !== undefined
    if (!isGiven && optional.includes(name)) continue
    const inside = [...path, name]
    if (!isGiven) return { complaint: { _tag: "Missing", path: inside, expected: describe(form) } }
    const reading = at(form, value[name], inside, way)
    if ("complaint" in reading) return reading
    entries.push([name, reading.value])
  }
  // Not by assignment, which would treat a field named __proto__ differently.
  return read(Object.fromEntries([...entries, ...(isOpen ? others.map((name) => [name, value[name]] as const) : [])]))
}

/** Whether a member is ruled out, by a field that distinguishes the members or by the only field of each. */
const isElsewhere = (member: Form, value: unknown, isByField: boolean): boolean =>
  member.kind === "record" &&
  isObject(value) &&
  (isByField
    ? Object.keys(member.fields).some((name) => !Object.hasOwn(value, name))
    : Object.entries(member.fields).some(
        ([name, field]) =>
          field.kind === "literal" && field.values.length === 1 && !field.values.some((each) => each === value[name]),
      ))

const literalsOf = (members: ReadonlyArray<Form>): Map<string, ReadonlyArray<Form>> => {
  const found = new Map<string, ReadonlyArray<Form>>()
  for (const member of members) {
    if (member.kind !== "record") continue
    for (const [name, field] of Object.entries(member.fields)) {
      if (field.kind === "literal") found.set(name, [...(found.get(name) ?? []), field])
    }
  }
  return found
}

/** No member matches: the field that distinguishes them, if there is one, is wrong. */
const nowhere = (members: ReadonlyArray<Form>, value: unknown, path: Path): Reading => {
  for (const [name, forms] of literalsOf(members)) {
    if (forms.length !== members.length || !isObject(value)) continue
    const values = forms.flatMap((form) => (form.kind === "literal" ? form.values : []))
    const expected = describe({ kind: "literal", values })
    const inside = [...path, name]
    return Object.hasOwn(value, name)
      ? wrong(inside, expected, value[name])
      : { complaint: { _tag: "Missing", path: inside, expected } }
  }
  return wrong(path, describe({ kind: "union", of: members }), value)
}

/** The first possible member that fits; otherwise the complaint of the member that got furthest. */
const union = ({ of: members }: Of<"union">, value: unknown, path: Path, way: Manner): Reading => {
  const isByField = tagsOf(members) !== undefined
  let furthest: Complaint | undefined
  for (const member of members) {
    if (isElsewhere(member, value, isByField)) continue
    const reading = at(member, value, path, way)
    if ("value" in reading) return reading
    const { complaint } = reading
    const { length } = complaint.path
    // With another field beside its own, the value is no attempt at this member.
    if (isByField && complaint._tag !== "Wrong" && length === path.length + 1) continue
    if (length > (furthest?.path ?? path).length) furthest = complaint
  }
  return furthest === undefined ? nowhere(members, value, path) : { complaint: furthest }
}

const at = (form: Form, value: unknown, path: Path, way: Manner): Reading => {
  switch (form.kind) {
    case "unknown":
      return read(value)
    case "string":
    case "boolean":
      return typeof value === form.kind ? read(value) : wrong(path, describe(form), value)
    case "number":
      return Number.isFinite(value) ? read(value) : wrong(path, describe(form), value)
    case "literal":
      return form.values.some((each) => each === value) ? read(value) : wrong(path, describe(form), value)
    case "integer":
      return isInteger(value, form.min, form.max) ? read(value) : wrong(path, form.expected, value)
    case "text":
      return isText(value, form.min, form.max) ? read(value) : wrong(path, form.expected, value)
    case "pattern":
      return typeof value === "string" && new RegExp(form.pattern).test(value)
        ? read(value)
        : wrong(path, form.expected, value)
    case "hex":
      return typeof value === "string" && Hex.isHex(value, form.bytes)
        ? read(value.toLowerCase())
        : wrong(path, form.expected, value)
    case "bytes":
      return typeof value === "string" && BYTES.test(value) ? read(bytesOf(value)) : wrong(path, describe(form), value)
    case "secret": {
      const secret = way.secret(value)
      return secret === undefined ? wrong(path, describe(form), value) : read(secret)
    }
    case "nothing":
      return isObject(value) && Object.keys(value).length === 0 ? read({}) : wrong(path, form.expected, value)
    case "list":
      return list(form, value, path, way)
    case "record":
      return record(form, value, path, way)
    case "union":
      return union(form, value, path, way)
  }
}

export const by = (form: Form, value: unknown, manner: Manner): Reading => at(form, value, [], manner)
