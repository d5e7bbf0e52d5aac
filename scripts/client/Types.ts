/**
 * Prints the HTTP interface's types without Effect, for a client that installs alone: an interface for each body, with
 * the definition's descriptions as comments, and a method for each endpoint. test/client/Interface.test.ts compares
 * them with the types derived from the definition.
 */
import { OpenApi } from "@effect/platform"
import { SchemaAST as AST, Option } from "effect"
import type { AnySchema, Definition } from "../../src/effect3/http/Definition.js"

/** What a caller can pass, without brands, or what it gets. */
type Way = "taken" | "given"

const identifierOf = (ast: AST.Annotated): string | undefined => Option.getOrUndefined(AST.getIdentifierAnnotation(ast))
const descriptionOf = (ast: AST.Annotated): string | undefined =>
  Option.getOrUndefined(AST.getDescriptionAnnotation(ast))

/** Brands that follow from a schema's name. */
const NAMED: ReadonlySet<string> = new Set(["Address", "Hash", "PublicKey", "Signature", "Name", "NetworkId", "Sats"])

/** Names that the client uses for something else. */
const TAKEN: ReadonlySet<string> = new Set([...NAMED, "Round", "Epoch", "Nonce", "Timestamp", "Account", "Outcome"])

/** Brands that follow only from a number's description. */
const DESCRIBED: Readonly<Record<string, string>> = {
  "a round of the DAG": "Round",
  "a nonce": "Nonce",
  "the sender's next unused number, counted from 0": "Nonce",
  "an epoch": "Epoch",
  "a commit": "CommitIndex",
  "index of a commit": "CommitIndex",
  "the number of a commit": "CommitIndex",
  "a proposal's number": "ProposalId",
  "the proposal's id": "ProposalId",
}

const isNumber = (ast: AST.AST): boolean => (AST.isRefinement(ast) ? isNumber(ast.from) : AST.isNumberKeyword(ast))

const kindOf = (ast: AST.AST): string | undefined => {
  if (!AST.isRefinement(ast)) return undefined
  const name = identifierOf(ast)
  if (name !== undefined && NAMED.has(name)) return name
  if (!isNumber(ast)) return undefined
  const about = descriptionOf(ast)
  if (about !== undefined && Object.hasOwn(DESCRIBED, about)) return DESCRIBED[about]
  // A time is a number within bounds, refined with a brand.
  const inner = AST.isRefinement(ast.from) ? descriptionOf(ast.from) : undefined
  return inner?.includes("milliseconds since 1970") || inner === "milliseconds since 1970" ? "Timestamp" : undefined
}

/** Descriptions are lower-case fragments; comments are sentences, unless they begin with a value or name. */
const sentence = (text: string): string => {
  const isWord = /^[a-z]+(?![a-z_])/.test(text) && !/^(?:true|false|null|udg)\b/.test(text)
  const begun = isWord ? `${text.charAt(0).toUpperCase()}${text.slice(1)}` : text
  return /[.?!]$/.test(begun) ? begun : `${begun}.`
}

const comment = (text: string | undefined, indent: string): string =>
  text === undefined ? "" : `${indent}/** ${sentence(text).replaceAll("*/", "*\\/")} */\n`

const key = (name: PropertyKey): string => (/^\w+$/.test(String(name)) ? String(name) : JSON.stringify(name))

/** The fields of a failure, which is a class on the node. */
export const instanceOf = (ast: AST.AST): AST.AST => {
  const declared = AST.isTransformation(ast) ? ast.to : ast
  const fields = AST.isDeclaration(declared) ? declared.typeParameters[0] : declared
  const name = identifierOf(ast) ?? identifierOf(declared)
  if (fields === undefined || name === undefined) throw new TypeError(`no failure: ${ast}`)
  return AST.annotations(AST.typeAST(fields), { [AST.IdentifierAnnotationId]: name })
}

export class Printer {
  /** Named bodies, in order of first use. */
  readonly #declared = new Map<string, string>()
  readonly #printing = new Set<string>()

  /** Everything printed under a name. */
  get declarations(): string {
    return [...this.#declared.values()].join("\n")
  }

  type(ast: AST.AST, way: Way, indent = ""): string {
    const name = this.#nameOf(ast, way)
    if (name === undefined) return this.#inline(ast, way, indent)
    if (!this.#declared.has(name) && !this.#printing.has(name)) {
      this.#printing.add(name)
      const isRecord = AST.isTypeLiteral(ast) && ast.indexSignatures.length === 0
      const text = this.#inline(ast, way, "")
      const declaration = isRecord ? `export interface ${name} ${text}` : `export type ${name} = ${text}`
      this.#declared.set(name, `${comment(descriptionOf(ast), "")}${declaration}\n`)
    }
    return name
  }

  /** Named records and unions are declared once. Inputs have another form than outputs. */
  #nameOf(ast: AST.AST, way: Way): string | undefined {
    const name = identifierOf(ast)
    const hasName = name !== undefined && (AST.isTypeLiteral(ast) || AST.isUnion(ast) || AST.isTupleType(ast))
    if (!hasName) return undefined
    const word = name.replaceAll(/[^\w]/g, "")
    const plain = TAKEN.has(word) ? `${word}Answer` : word
    if (way === "given" || plain.endsWith("Request")) return plain
    return this.#inline(ast, "given", "") === this.#inline(ast, "taken", "") ? plain : `${plain}Input`
  }

  #inline(ast: AST.AST, way: Way, indent: string): string {
    switch (ast._tag) {
      case "StringKeyword":
        return "string"
      case "NumberKeyword":
        return "number"
      case "BooleanKeyword":
        return "boolean"
      case "UnknownKeyword":
        return "unknown"
      case "UndefinedKeyword":
        return "undefined"
      case "Literal":
        return typeof ast.literal === "bigint" ? this.#unknown(ast) : JSON.stringify(ast.literal)
      case "Refinement": {
        const kind = kindOf(ast)
        return kind === undefined || way === "taken" ? this.type(ast.from, way, indent) : `Kinds.${kind}`
      }
      case "Transformation":
        return this.#transformed(ast, way, indent)
      case "TypeLiteral":
        return this.#record(ast, way, indent)
      case "TupleType":
        return ast.rest[0] === undefined
          ? this.#unknown(ast)
          : `ReadonlyArray<${this.type(ast.rest[0].type, way, indent)}>`
      case "Union":
        return [...new Set(ast.types.map((type) => this.type(type, way, indent)))].join(" | ")
      default:
        return this.#unknown(ast)
    }
  }

  #transformed({ from, to }: AST.Transformation, way: Way, indent: string): string {
    if (identifierOf(from) === "SecretKey") return way === "taken" ? "Kinds.SecretKey | string" : "Kinds.SecretKey"
    if (identifierOf(to) === "Uint8ArrayFromHex") return "Uint8Array"
    const kind = kindOf(from)
    if (kind !== undefined) return way === "taken" ? "string" : `Kinds.${kind}`
    return this.type(to, way, indent)
  }

  #record({ propertySignatures, indexSignatures }: AST.TypeLiteral, way: Way, indent: string): string {
    if (propertySignatures.length + indexSignatures.length === 0) return "Readonly<Record<never, never>>"
    const inside = `${indent}  `
    const fields = propertySignatures.map((property) => {
      const about = comment(descriptionOf(property), inside)
      const mark = property.isOptional ? "?" : ""
      return `${about}${inside}readonly ${key(property.name)}${mark}: ${this.type(property.type, way, inside)}\n`
    })
    const others = indexSignatures.map(
      ({ type }) => `${inside}readonly [name: string]: ${this.type(type, way, inside)}\n`,
    )
    return `{\n${[...fields, ...others].join("")}${indent}}`
  }

  #unknown(ast: AST.AST): never {
    throw new TypeError(`the client has no type for ${ast}`)
  }
}

/** Example arguments, by parameter. */
const EXAMPLES: Readonly<Record<string, string>> = {
  address: '"@alice"',
  hash: "hash",
  round: "1205",
  id: "1",
  epoch: "3",
  limit: "10",
  range: '"hour"',
  interval: '"hour"',
  prefix: '"3f9a"',
  addresses: "addresses",
  cell: "0",
}

const isOptional = (schema: AnySchema): boolean =>
  AST.isTypeLiteral(schema.ast) && schema.ast.propertySignatures.every((property) => property.isOptional)

const parts = ({ params, query, body }: Definition) =>
  [
    ["path", params],
    ["urlParams", query],
    ["payload", body],
  ] as const

const exampleOf = (schema: AnySchema): string => {
  if (!AST.isTypeLiteral(schema.ast)) return "transaction"
  const fields = schema.ast.propertySignatures.filter(({ isOptional }) => !isOptional).map(({ name }) => String(name))
  return `{ ${fields.map((name) => (EXAMPLES[name] === undefined ? name : `${name}: ${EXAMPLES[name]}`)).join(", ")} }`
}

const example = (definition: Definition): string => {
  const given = parts(definition).flatMap(([name, schema]) =>
    schema === undefined || isOptional(schema) ? [] : [`${name}: ${exampleOf(schema)}`],
  )
  const request = given.length === 0 ? "" : `{ ${given.join(", ")} }`
  return `const answer = await client.${definition.group}.${definition.name}(${request})`
}

/** An endpoint's own description; undefined if it has its group's. */
const ownDescription = (definition: Definition, all: ReadonlyArray<Definition>): string | undefined => {
  const about = definition.annotation(OpenApi.Description)
  const alike = all.filter((other) => other.annotation(OpenApi.Description) === about)
  return alike.length > 1 ? undefined : about
}

const commentOf = (definition: Definition, all: ReadonlyArray<Definition>): string => {
  const about = [definition.annotation(OpenApi.Summary), ownDescription(definition, all)]
  const lines = [
    ...about.filter((text) => text !== undefined).map(sentence),
    "",
    `\`${definition.method} ${definition.path}\``,
    "",
    "@example",
    "```ts",
    example(definition),
    "```",
  ]
  return `    /**\n${lines.map((line) => `     * ${line.replaceAll("*/", "*\\/")}`.trimEnd()).join("\n")}\n     */\n`
}

const requestOf = (printer: Printer, definition: Definition, payload?: string): string => {
  const given = parts(definition).flatMap(([name, schema]) => {
    if (schema === undefined) return []
    const type = name === "payload" && payload !== undefined ? payload : printer.type(schema.ast, "taken", "    ")
    return [`readonly ${name}${isOptional(schema) ? "?" : ""}: ${type}`]
  })
  if (given.length === 0) return ""
  const mark = parts(definition).every(([, schema]) => schema === undefined || isOptional(schema)) ? "?" : ""
  return `request${mark}: { ${given.join("; ")} }`
}

const isList = (ast: AST.AST): boolean => (AST.isRefinement(ast) ? isList(ast.from) : AST.isTupleType(ast))

const membersOf = (ast: AST.AST): ReadonlyArray<AST.AST> => (AST.isUnion(ast) ? ast.types : [ast])

/** For an endpoint that takes one item or several, and answers accordingly. */
const severalOf = (printer: Printer, definition: Definition): string | undefined => {
  const { body, success } = definition
  if (body === undefined) return undefined
  const [taken, given] = [membersOf(body.ast), membersOf(success.schema.ast)]
  if (!taken.some(isList) || !given.some(isList)) return undefined
  const forms = [false, true].map((isSeveral) => {
    const of = (members: ReadonlyArray<AST.AST>, way: Way) =>
      members
        .filter((ast) => isList(ast) === isSeveral)
        .map((ast) => printer.type(ast, way, "    "))
        .join(" | ")
    return `      (${requestOf(printer, definition, of(taken, "taken"))}): Promise<${of(given, "given")}>\n`
  })
  return `{\n${forms.join("")}    }`
}

const methodOf = (printer: Printer, definition: Definition, all: ReadonlyArray<Definition>): string => {
  const { name, success } = definition
  const answer = success.isText ? "string" : printer.type(success.schema.ast, "given", "    ")
  const signature = severalOf(printer, definition) ?? `(${requestOf(printer, definition)}) => Promise<${answer}>`
  return `${commentOf(definition, all)}    readonly ${name}: ${signature}\n`
}

/** An interface with a method for each endpoint, by group. */
export const methods = (printer: Printer, definitions: ReadonlyArray<Definition>): string => {
  const groups = [...new Set(definitions.map(({ group }) => group))].map((group) => {
    const members = definitions.filter((definition) => definition.group === group)
    return `  readonly ${group}: {\n${members.map((member) => methodOf(printer, member, definitions)).join("")}  }\n`
  })
  return `/** A method for each endpoint, by its group. */\nexport interface Methods {\n${groups.join("")}}\n`
}
