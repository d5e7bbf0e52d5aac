/** docs/errors.md is generated from the definition of the HTTP API. UDG_REWRITE_DOCS=1 writes it again. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import * as Definition from "../../src/effect3/http/Definition.js"
import * as Rejection from "../../src/ledger/rules/Rejection.js"
import * as Failure from "../../src/rpc/api/Failure.js"
import * as OpenApiDocument from "../../src/rpc/documents/OpenApiDocument.js"
import { complaint, root, textOf } from "./Pages.js"

const PAGE = "docs/errors.md"

/** Not Node's own names, which may change between versions. */
const NAMES: ReadonlyMap<number, string> = new Map([
  [400, "Bad Request"],
  [403, "Forbidden"],
  [404, "Not Found"],
  [405, "Method Not Allowed"],
  [408, "Request Timeout"],
  [409, "Conflict"],
  [410, "Gone"],
  [413, "Content Too Large"],
  [415, "Unsupported Media Type"],
  [429, "Too Many Requests"],
  [431, "Request Header Fields Too Large"],
  [500, "Internal Server Error"],
  [501, "Not Implemented"],
  [503, "Service Unavailable"],
])

const failures = [...new Map(Definition.failures(Failure.schema).map((each) => [each.identifier, each])).values()]
const statuses = [...new Set(failures.map(({ status }) => status))].sort((a, b) => a - b)

const rules = `\`rule\` is one of ${Rejection.RULES.map((rule) => `\`${rule}\``).join(", ")}.`

const entry = ({ identifier, when, remedy }: (typeof failures)[number]): string =>
  [`### ${identifier}`, when, `**Action:** ${remedy}`, ...(identifier === "InvalidTransaction" ? [rules] : [])].join(
    "\n\n",
  )

const made = statuses
  .map((status) =>
    [`## ${status} ${NAMES.get(status)}`, ...failures.filter((failure) => failure.status === status).map(entry)].join(
      "\n\n",
    ),
  )
  .join("\n\n")

it(`${PAGE} has each code under its status, with its cause and what to do`, () => {
  const page = textOf(PAGE)
  const wanted = page.replace(/(<!-- errors -->)[\s\S]*(<!-- \/errors -->)/, `$1\n\n${made}\n\n$2`)
  if (process.env["UDG_REWRITE_DOCS"] === "1") writeFileSync(join(root, PAGE), wanted)
  else expect(page).toBe(wanted)
})

describe("the OpenAPI document", () => {
  const { paths, components } = OpenApiDocument.make("0.0.0")

  /** The schemas of all error responses. */
  const answered = new Set(
    Object.values(paths).flatMap((item) =>
      Object.values(item).flatMap(({ responses }) =>
        Object.entries(responses)
          .filter(([status]) => Number(status) >= 400)
          .flatMap(([, response]) => [...JSON.stringify(response).matchAll(/schemas\/(\w+)/g)].map(([, name]) => name)),
      ),
    ),
  )

  it("returns no code that the page lacks", () => {
    const codes = failures.map(({ identifier }) => identifier)
    expect(answered.size).toBeGreaterThan(30)
    expect([...answered].filter((name) => !codes.includes(name ?? ""))).toEqual([])
  })

  it("links each error to its place on the page", () => {
    const links = [...answered].map((name) => {
      const schema = components.schemas[name ?? ""]
      return schema !== undefined && "externalDocs" in schema ? schema.externalDocs : undefined
    })
    expect(links).toEqual([...answered].map((name) => ({ url: `/${PAGE}#${name?.toLowerCase()}` })))
    expect([...answered].flatMap((name) => complaint("README.md", `${PAGE}#${name?.toLowerCase()}`) ?? [])).toEqual([])
  })
})
