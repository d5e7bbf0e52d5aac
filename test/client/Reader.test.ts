import { Either, FastCheck as fc, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { endpoints, event, failures, transaction } from "../../src/client/wire/Forms.js"
import * as Reader from "../../src/client/wire/Reader.js"
import * as Definition from "../../src/effect3/http/Definition.js"
import type { Form } from "../../src/effect3/http/Outline.js"
import * as Json from "../../src/protocol/encoding/Json.js"
import * as JsonProblem from "../../src/protocol/encoding/JsonProblem.js"
import { TransactionJson } from "../../src/protocol/transaction/TransactionJson.js"
import { Api } from "../../src/rpc/api/Api.js"
import { Event } from "../../src/rpc/api/Events.js"
import * as Failure from "../../src/rpc/api/Failure.js"

/** Decodes like the client, with forms. Secrets stay strings. */
const byForm = (form: Form, unknownFields: "error" | "ignore") => (value: unknown) => {
  const reading = Reader.by(form, value, {
    unknownFields,
    secret: (value) => (typeof value === "string" && /^[0-9a-fA-F]{64}$/.test(value) ? value : undefined),
  })
  return "value" in reading ? reading : { problem: JsonProblem.ofComplaint(reading.complaint, "value") }
}

/** Decodes like the node, with schemas. */
const bySchema = (schema: Definition.AnySchema, unknownFields: "error" | "ignore") => {
  const decode = Json.decoder(schema, "value", unknownFields)
  return (value: unknown) =>
    Either.match(decode(value), { onLeft: (problem) => ({ problem }), onRight: (value) => ({ value }) })
}

/** A value of the form, occasionally wrong in one place. */
const valuesOf = (form: Form): fc.Arbitrary<unknown> => {
  const garbage = fc.constantFrom<unknown>(null, -1, 1.5, "", "x", [], {}, true, "é".repeat(300), 2 ** 53, -0)
  return fc.oneof({ weight: 30, arbitrary: fitting(form) }, { weight: 1, arbitrary: garbage })
}

const hexOf = (bytes: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: 2 * bytes, maxLength: 2 * bytes })

const fitting = (form: Form): fc.Arbitrary<unknown> => {
  switch (form.kind) {
    case "string":
      return fc.string()
    case "number":
      return fc.double({ noNaN: true, noDefaultInfinity: true })
    case "boolean":
      return fc.boolean()
    case "unknown":
      return fc.jsonValue()
    case "bytes":
      return hexOf(8)
    case "secret":
      return hexOf(32)
    case "literal":
      return fc.constantFrom(...form.values)
    case "hex":
      return hexOf(form.bytes)
    case "pattern":
      return fc.stringMatching(new RegExp(form.pattern))
    case "text":
      return fc.string({ maxLength: Math.min(form.max, 50) })
    case "integer":
      return fc.integer({ min: form.min, max: form.max })
    case "nothing":
      return fc.constant({})
    case "list":
      return fc.array(valuesOf(form.of), { minLength: 1, maxLength: 3 })
    case "union":
      return fc.oneof(...form.of.map(valuesOf))
    case "record": {
      const fields = Object.fromEntries(Object.entries(form.fields).map(([name, field]) => [name, valuesOf(field)]))
      const keys = Object.keys(fields).filter((name) => !(form.optional ?? []).includes(name))
      const complete = fc.record(fields, { requiredKeys: keys })
      const spoilt = fc.tuple(complete, fc.constantFrom(...keys, "__proto__", "more")).map(([value, name]) => {
        const others = Object.entries(value).filter(([each]) => each !== name)
        return Object.fromEntries(others.length === Object.keys(value).length ? [...others, [name, 1]] : others)
      })
      return fc.oneof({ weight: 20, arbitrary: complete }, { weight: 1, arbitrary: spoilt })
    }
  }
}

const transactionSchema: Definition.AnySchema = Schema.make(TransactionJson.ast)

const pairs = [
  ...Definition.all(Api).flatMap(({ group, name, body, success }) => {
    const endpoint = endpoints[group]?.[name]
    return [
      ...(endpoint?.answer === undefined
        ? []
        : [
            {
              what: `${group}.${name}'s answer`,
              form: endpoint.answer,
              schema: Schema.make<unknown, unknown>(success.schema.ast),
              way: "ignore" as const,
            },
          ]),
      ...(endpoint?.body === undefined || body === undefined
        ? []
        : [{ what: `${group}.${name}'s body`, form: endpoint.body, schema: body, way: "error" as const }]),
    ]
  }),
  { what: "an event", form: event, schema: Schema.make<unknown, unknown>(Event.ast), way: "ignore" as const },
  { what: "a transaction", form: transaction, schema: transactionSchema, way: "error" as const },
  ...Definition.failures(Failure.schema).map(({ identifier, schema }) => ({
    what: identifier,
    form: failures[identifier],
    schema: Schema.make<unknown, unknown>(schema.ast),
    way: "ignore" as const,
  })),
]

/** A schema without fields accepts any value but null; the client requires an object. */
const takesAnything = (form: Form): boolean => JSON.stringify(form).includes('"fields":{}')

describe("the client's reader, compared with the node's schemas", () => {
  it.each(pairs)("$what", ({ form, schema, way }) => {
    if (form === undefined) throw new Error("no form")
    const [client, node] = [byForm(form, way), bySchema(schema, way)]
    fc.assert(
      fc.property(valuesOf(form), (value) => {
        const isTaken = "value" in node(value)
        if (isTaken && takesAnything(form)) return
        expect("value" in client(value)).toBe(isTaken)
      }),
      { numRuns: 300 },
    )
  })

  it("reads a transaction as the same value", () => {
    const [client, node] = [byForm(transaction, "error"), bySchema(transactionSchema, "error")]
    fc.assert(
      fc.property(valuesOf(transaction), (value) => {
        const mine = client(value)
        if ("value" in mine) expect(mine).toEqual(node(value))
      }),
      { numRuns: 1_000 },
    )
  })

  const [key, signature] = ["ab".repeat(32), "cd".repeat(64)]
  const envelope = { from: "", nonce: 0, fee: 0, pub_key: key, signature }
  it.each([
    ["no type", { to: "" }],
    ["an unknown type", { ...envelope, type: "Gift" }],
    ["a missing field", { ...envelope, type: "VoteTx", vote: true }],
    ["a field too many", { ...envelope, type: "UnstakeTx", amount: 1 }],
    ["a fraction", { ...envelope, type: "StakeTx", amount: 1.5 }],
    ["a short key", { ...envelope, type: "UnstakeTx", pub_key: "ab" }],
    ["a wrong list", { ...envelope, type: "SetAccountPolicyTx", threshold: 1, keys: [key, 1] }],
    ["too long a text", { ...envelope, type: "Transfer", to: "", amount: 1, memo: "é".repeat(129) }],
    [
      "a proposal of two kinds",
      { ...envelope, type: "CreateProposalTx", title: "t", description: "", proposal_type: { Text: {}, More: 1 } },
    ],
    [
      "a proposal of no kind",
      { ...envelope, type: "CreateProposalTx", title: "t", description: "", proposal_type: { More: 1 } },
    ],
    [
      "a deep mistake",
      {
        ...envelope,
        type: "CreateProposalTx",
        title: "t",
        description: "",
        proposal_type: { TreasurySpend: { recipient: "", amount: -1 } },
      },
    ],
  ])("refuses a transaction with %s in the same words", (_, value) => {
    expect(byForm(transaction, "error")(value)).toEqual(bySchema(transactionSchema, "error")(value))
  })
})
