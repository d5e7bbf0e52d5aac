/** Runs the programs of docs/languages.md against docs/vectors, in each language that is installed. */
import { spawnSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Schema } from "effect"
import { describe, expect, it } from "vitest"
import * as Published from "../support/Published.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { root, textOf } from "./Pages.js"

const LINES_AT_MOST = 30
const VECTORS = join(root, "docs/vectors")
const PAGE = textOf("docs/languages.md")

const Text = Schema.String
const Signed = Schema.Struct({
  type: Text,
  from: Text,
  nonce: Schema.Number,
  fee: Schema.optionalWith(Schema.Number, { default: () => 0 }),
  pub_key: Text,
  signature: Text,
  to: Schema.optional(Text),
  amount: Schema.optional(Schema.Number),
  memo: Schema.optionalWith(Text, { default: () => "" }),
})

const read = <A, I>(name: string, form: Schema.Schema<A, I>): A =>
  Schema.decodeUnknownSync(form)(JSON.parse(readFileSync(join(VECTORS, name), "utf8")))

const { network_id, single_key } = read("transactions.json", Published.transactions)
const secrets = new Map(read("keys.json", Published.keys).map(({ pub_key, secret_key }) => [pub_key, secret_key]))

/**
 * The body follows type, sender, nonce and fee. After it come an empty list of signatures, the key and the signature.
 */
const BODY_FROM = 2 * (1 + 20 + 8 + 8)
const BODY_UNTIL = -2 * (1 + 32 + 64)

const cases = single_key.map(({ json, encoded, hash }) => {
  const { pub_key, signature, ...given } = Schema.decodeUnknownSync(Signed)(json)
  const kind = Number.parseInt(encoded.slice(0, 2), 16)
  const body = encoded.slice(BODY_FROM, BODY_UNTIL)
  const asked = { ...given, kind, body, network_id, secret_key: secrets.get(pub_key) }
  return { asked, expected: `${hash} ${given.from} ${pub_key} ${signature} ${body}` }
})

const programOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(PAGE)?.[1] ?? ""

/** The programs encode the bodies of transfers; other bodies are given. */
const PYTHON = `
import json, sys
for it in json.load(sys.stdin):
    body = transfer_body(it["to"], it["amount"], it["memo"]) if it["type"] == "Transfer" else bytes.fromhex(it["body"])
    tx_hash, tx = sign(it["secret_key"], it["network_id"], it["type"], it["nonce"], it["fee"], body)
    print(tx_hash, tx["from"], tx["pub_key"], tx["signature"], body.hex())
`

const GO = `package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
)

type asked struct {
	Secret  string \`json:"secret_key"\`
	Network string \`json:"network_id"\`
	Kind    byte   \`json:"kind"\`
	Nonce   uint64 \`json:"nonce"\`
	Fee     uint64 \`json:"fee"\`
	Body    string \`json:"body"\`
	To      string \`json:"to"\`
	Amount  uint64 \`json:"amount"\`
	Memo    string \`json:"memo"\`
}

func bytesOf(text string) []byte {
	bytes, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return bytes
}

func main() {
	var all []asked
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		panic(err)
	}
	for _, it := range all {
		body := bytesOf(it.Body)
		if it.Kind == 1 {
			body = transferBody(bytesOf(it.To), it.Amount, it.Memo)
		}
		hash, from, key, signature := sign(bytesOf(it.Secret), it.Network, it.Kind, it.Nonce, it.Fee, body)
		fmt.Println(hash, from, key, signature, hex.EncodeToString(body))
	}
}
`

const isThere = (command: string, ...words: ReadonlyArray<string>): boolean => spawnSync(command, words).status === 0

const folder = TemporaryFolder.forTests("languages")

const answersOf = (command: string, ...words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { status, stdout, stderr } = spawnSync(command, words, {
    cwd: folder,
    input: JSON.stringify(cases.map(({ asked }) => asked)),
    encoding: "utf8",
    env: { ...process.env, GO111MODULE: "off", GOPROXY: "off", GOTOOLCHAIN: "local" },
  })
  expect([status, stderr]).toEqual([0, ""])
  return stdout.trimEnd().split("\n")
}

const expected = cases.map((one) => one.expected)

it("the page signs in thirty lines of each language", () => {
  for (const language of ["python", "go"]) {
    const lines = programOf(language).trimEnd().split("\n").length
    expect(lines).toBeGreaterThan(10)
    expect(lines).toBeLessThanOrEqual(LINES_AT_MOST)
  }
})

const MINUTES = { timeout: 300_000 }

describe(Rest.of("compilers and interpreters of other languages", "the programs of the page"), MINUTES, () => {
  it.runIf(isThere("python3", "-c", "import cryptography"))("sign every transaction of the vectors in Python", () => {
    writeFileSync(join(folder, "sign.py"), programOf("python") + PYTHON)
    expect(answersOf("python3", "sign.py")).toEqual(expected)
  })

  it.runIf(isThere("go", "version"))("sign every transaction of the vectors in Go", () => {
    writeFileSync(join(folder, "sign.go"), programOf("go"))
    writeFileSync(join(folder, "main.go"), GO)
    expect(answersOf("go", "run", "sign.go", "main.go")).toEqual(expected)
  })
})
