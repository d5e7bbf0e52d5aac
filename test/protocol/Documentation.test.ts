/** docs/protocol.md agrees with the code: its example is a vector, and its tables have the numbers of the code. */
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { Either, Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as MessageCodec from "../../src/network/MessageCodec.js"
import * as Channel from "../../src/network/peers/Channel.js"
import * as Genesis from "../../src/protocol/epoch/Genesis.js"
import * as Name from "../../src/protocol/identity/Name.js"
import * as Network from "../../src/protocol/identity/Network.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Operation from "../../src/protocol/transaction/Operation.js"
import * as Checkpoints from "../../src/rpc/api/Checkpoints.js"

const docs = resolve(import.meta.dirname, "../../docs")
const page = readFileSync(resolve(docs, "protocol.md"), "utf8")
const [example] = JSON.parse(readFileSync(resolve(docs, "vectors/transactions.json"), "utf8")).single_key

const { written_out: genesis } = JSON.parse(readFileSync(resolve(docs, "vectors/genesis.json"), "utf8")).smallest

/** The fenced block of this language; the page has one of each. */
const block = (language: string): string => {
  const match = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "m").exec(page)
  if (match?.[1] === undefined) throw new Error(`docs/protocol.md has no ${language} block`)
  return match[1]
}

const cellsOf = (row: string): ReadonlyArray<string> =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The rows of the table that begins with these headings, however it is padded. */
const rowsUnder = (...headings: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> => {
  const tables = page.split(/\n(?!\|)/).map((part) =>
    part
      .split("\n")
      .filter((line) => line.startsWith("|"))
      .map(cellsOf),
  )
  const found = tables.find(([first = []]) => headings.every((heading, i) => first[i] === heading))
  if (found === undefined) throw new Error(`docs/protocol.md has no table of ${headings.join(", ")}`)
  return found.slice(2)
}

describe("the worked example of docs/protocol.md", () => {
  it("shows the signed bytes of the first vector", () => {
    const bytes = block("hex")
      .split("\n")
      .map((line) => line.split(" ")[0])
    expect(bytes.join("")).toBe(example.signed_bytes)
  })

  it("makes the transaction of the first vector", () => {
    expect(block("text")).toContain(example.hash)
    expect(block("text")).toContain(example.json.signature)
    expect(block("text")).toContain(`${example.encoded.length / 2} bytes`)
  })
})

it("the JSON checkpoint in docs/protocol.md has the HTTP API's form", () => {
  const shown = JSON.parse(block("json").replaceAll(/<(\d+) hex>/g, (_, digits) => "0".repeat(Number(digits))))
  const decoded = Schema.decodeUnknownEither(Checkpoints.Checkpoint, { onExcessProperty: "error" })(shown)
  expect(Either.isRight(decoded)).toBe(true)
})

describe("the tables of docs/protocol.md", () => {
  it("have the type bytes of the code", () => {
    const rows = rowsUnder("type", "`type` in JSON")
    expect(Object.fromEntries(rows.map(([byte, name]) => [name?.replaceAll("`", ""), Number(byte)]))).toStrictEqual(
      Operation.TYPE_BYTE,
    )
  })

  it("have the parameters of the code, in their order", () => {
    expect(rowsUnder("parameter")).toStrictEqual(
      Parameters.table.map(({ name, standard, min, max }) => [
        name,
        String(standard),
        name === "cooldown_rounds" ? "epoch_rounds" : String(min),
        String(max),
      ]),
    )
  })

  it("have the defaults of the genesis", () => {
    const { mode, network_id, time, validators, allocations } = genesis
    const shortest = Genesis.fromFile({ mode, network_id, time, validators, allocations })
    const { protocol } = Genesis.toJson(Either.getOrThrow(shortest))
    const documented = rowsUnder("field", "type", "structural rule", "default")
      .map(([field, , , otherwise]) => [field, Number(otherwise)] as const)
      .filter(([field]) => field !== undefined && field in protocol)
    expect(Object.fromEntries(documented)).toStrictEqual(protocol)
  })

  it("have every reason of the rejected vectors, and no other", () => {
    const { bytes, json } = JSON.parse(readFileSync(resolve(docs, "vectors/rejected-transactions.json"), "utf8"))
    const used = [...bytes, ...json].map(({ reason }) => `\`${reason}\``)
    expect(new Set(rowsUnder("`reason`").map(([reason]) => reason))).toStrictEqual(new Set(used))
  })

  it.each([
    ["supply", Sats.MAX_SUPPLY.toLocaleString("en")],
    ["vertex", `${Limits.VERTEX_BYTES.toLocaleString("en")} bytes`],
    ["transactions", `list16(${Limits.VERTEX_TRANSACTIONS}) of transaction`],
    ["evidence", `list8(${Limits.VERTEX_EVIDENCE}) of evidence`],
    ["heartbeats", `list8(${Limits.VERTEX_HEARTBEATS}) of heartbeat`],
    ["members", `list8(${Limits.COMMITTEE_MEMBERS}) of key ‖ weight amount`],
    ["parents", `list16(${Limits.PARENTS_PER_MEMBER * Limits.COMMITTEE_MEMBERS}) of round`],
    ["parents per member", `${Limits.PARENTS_PER_MEMBER} × members`],
    ["council", `| council | \`list8(${Limits.COUNCIL_SEATS})\` of \`address\``],
    ["memo", `memo \`text16(${Limits.MEMO_BYTES})\``],
    ["title", `title \`text16(${Limits.TITLE_BYTES})\``],
    ["description", `description \`text16(${Limits.DESCRIPTION_BYTES})\``],
    ["parameter", `param \`text8(${Limits.PARAMETER_NAME_BYTES})\``],
    ["keys", `keys \`list8(${Limits.POLICY_KEYS}) of key\``],
    ["signatures", `A count \`u8\`, at most ${Limits.POLICY_KEYS}`],
    ["name", `name \`text8(${Name.MAX_BYTES})\``],
    ["network id", `network_id | \`text8(${Network.NETWORK_ID_BYTES})\``],
  ])("have the limit of the code: %s", (_, written) => {
    expect(page.replace(/ +/g, " ")).toContain(written)
  })

  it("have every kind of message, and no other", () => {
    const rows = rowsUnder("kind", "message").map(([byte, name]) => [Number(byte), name?.replaceAll("`", "")])
    const bytes = Array.from({ length: 256 }, (_, byte) => byte)
    const kinds = bytes.map((byte) => [byte, MessageCodec.tagOf(Uint8Array.of(byte))])
    expect(rows).toStrictEqual(kinds.filter(([, tag]) => tag !== undefined))
  })

  it("have the lanes with their limits", () => {
    const ofList: { readonly [channel in Channel.Channel]?: number } = Channel.TOLD_BYTES
    const written = (value: number): string => value.toLocaleString("en")
    expect(rowsUnder("lane").map(([lane, , limit, credit]) => [lane, limit, credit])).toStrictEqual(
      Channel.all.map((channel, lane) => {
        const { messageBytes, windowBytes, strangerWindowBytes } = Channel.LIMITS[channel]
        const windows = new Set([windowBytes, strangerWindowBytes].map((bytes) => written(bytes / 1_024)))
        return [String(lane), written(ofList[channel] ?? messageBytes), [...windows].join(" or ")]
      }),
    )
  })

  it("name only vector files and pages that exist", () => {
    for (const [, file] of page.matchAll(/`(vectors\/[a-z-]+\.json)`/g)) {
      expect(() => readFileSync(resolve(docs, file ?? ""))).not.toThrow()
    }
  })
})
