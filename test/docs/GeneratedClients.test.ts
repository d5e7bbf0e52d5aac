/**
 * Clients for other languages, generated from a node's OpenAPI document with the commands of docs/languages.md and run
 * against that node. If a language is missing or its generator cannot be installed, the test is skipped and says so.
 */
import { spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, type TestContext } from "vitest"
import { startNode } from "../../src/testing/Testing.js"
import { forTests } from "../support/forTests.js"
import * as Rest from "../support/Rest.js"
import * as TemporaryFolder from "../support/TemporaryFolder.js"
import { textOf } from "./Pages.js"

const PAGE = textOf("docs/languages.md")
const PORT_OF_THE_PAGE = "http://127.0.0.1:10333"

const programOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "m").exec(PAGE)?.[1] ?? ""

/** The page's commands that begin with these words. */
const commandsOf = (...beginnings: ReadonlyArray<string>): ReadonlyArray<string> =>
  beginnings.map((beginning) => {
    const line = PAGE.split("\n").find((each) => each.startsWith(`    ${beginning}`))
    if (line === undefined) throw new Error(`docs/languages.md has no command ${beginning}`)
    return line.trim()
  })

const PYTHON = `
import json, sys, time
from sign import sign, transfer_body
from udg import Client
from udg.api.core import core_balance, core_network, core_status
from udg.api.transactions import transactions_lookup, transactions_submit
from udg.models import Accepted, Balance, InvalidRequest, NonceTooLow, NodeStatus, RefusedAnswer, TransactionNotFound, Transfer

url, secret, sender, to = sys.argv[1:]
client = Client(base_url=url)

def of(expected, value):
    if not isinstance(value, expected):
        raise Exception(f"{expected} expected, got {value}")
    return value

of(NodeStatus, core_status.sync(client=client))
network = core_network.sync(client=client)
before = of(Balance, core_balance.sync(sender, client=client))
tx_hash, signed = sign(secret, network.network_id, "Transfer", before.next_nonce, network.parameters.min_fee_sats, transfer_body(to, 5, "hello"))
payment = Transfer.from_dict({**signed, "to": to, "amount": 5, "memo": "hello"})
accepted = of(Accepted, transactions_submit.sync(client=client, body=payment))
while (found := transactions_lookup.sync(tx_hash, client=client)).status != "finalized":
    time.sleep(0.02)
refused = of(NonceTooLow, transactions_submit.sync(client=client, body=payment))
many = [of(RefusedAnswer, each) for each in transactions_submit.sync(client=client, body=[payment, payment])]
wrong = of(InvalidRequest, core_balance.sync("nobody", client=client))
unknown = of(TransactionNotFound, transactions_lookup.sync("0" * 64, client=client))
print(json.dumps({
    "hashes_agree": accepted.tx_hash == tx_hash,
    "applied": found.applied,
    "memo": of(Transfer, found.transaction).memo,
    "spent": before.balance - core_balance.sync(sender, client=client).balance,
    "name": before.name,
    "next_nonce": refused.next_nonce,
    "codes": [each.code for each in many] + [wrong.code, unknown.code],
    "field": wrong.field,
}))
`

const GO = `package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"example/udg"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	url, secret, sender, to := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	client := must(udg.NewClientWithResponses(url))
	status := must(client.CoreStatusWithResponse(ctx)).JSON200
	network := must(client.CoreNetworkWithResponse(ctx)).JSON200
	before := must(client.CoreBalanceWithResponse(ctx, sender)).JSON200
	if status.TotalSupply <= 0 {
		panic("no supply")
	}
	nonce, fee, memo := before.NextNonce, network.Parameters.MinFeeSats, "hello"
	hash, from, key, signature := sign(must(hex.DecodeString(secret)), network.NetworkId, 1, uint64(nonce), uint64(fee),
		transferBody(must(hex.DecodeString(to)), 5, memo))
	var payment udg.Transaction
	if err := payment.FromTransfer(udg.Transfer{From: from, Nonce: nonce, PubKey: &key, Signature: &signature, To: to,
		Amount: 5, Memo: &memo, Fee: fee}); err != nil {
		panic(err)
	}
	var one, two udg.TransactionsSubmitBody
	if err := one.FromTransaction(payment); err != nil {
		panic(err)
	}
	if err := two.FromTransactionsSubmitBody1([]udg.Transaction{payment, payment}); err != nil {
		panic(err)
	}
	accepted := must(must(client.TransactionsSubmitWithResponse(ctx, one)).JSON200.AsAccepted())
	var found *udg.TransactionLookup
	for found == nil || found.Status != "finalized" {
		time.Sleep(20 * time.Millisecond)
		found = must(client.TransactionsLookupWithResponse(ctx, hash)).JSON200
	}
	refused := must(must(client.TransactionsSubmitWithResponse(ctx, one)).JSON400.ValueByDiscriminator()).(udg.NonceTooLow)
	var codes []string
	for _, each := range must(must(client.TransactionsSubmitWithResponse(ctx, two)).JSON200.AsSubmissionAnswers()) {
		codes = append(codes, must(each.AsRefusedAnswer()).Code)
	}
	wrong := must(client.CoreBalanceWithResponse(ctx, "nobody")).JSON400
	unknown := must(client.TransactionsLookupWithResponse(ctx, strings.Repeat("0", 64))).JSON404
	after := must(client.CoreBalanceWithResponse(ctx, sender)).JSON200
	text := must(json.Marshal(map[string]any{
		"hashes_agree": accepted.TxHash == hash,
		"applied":      found.Applied,
		"memo":         must(found.Transaction.AsTransfer()).Memo,
		"spent":        before.Balance - after.Balance,
		"name":         before.Name,
		"next_nonce":   refused.NextNonce,
		"codes":        append(codes, string(wrong.Code), string(unknown.Code)),
		"field":        wrong.Field,
	}))
	fmt.Println(string(text))
}
`

const folder = TemporaryFolder.forTests("generated")
const node = forTests(() => startNode({ accounts: 3 }))

interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Not with a synchronous call, because the node runs in this thread. */
const run = (line: string, cwd: string): Promise<Ran> =>
  new Promise((settle, fail) => {
    const env = {
      ...process.env,
      PATH: `${join(folder, "venv/bin")}:${process.env["PATH"]}`,
      GOTOOLCHAIN: "local",
      GOFLAGS: "-modcacherw -buildvcs=false",
      PIP_RETRIES: "1",
      PIP_DISABLE_PIP_VERSION_CHECK: "1",
    }
    const child = spawn("sh", ["-c", line.replace(PORT_OF_THE_PAGE, node().url)], { cwd, env })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
    child.on("error", fail)
    child.on("close", (code) => settle({ code, stdout, stderr }))
  })

/** Skips the test if one of these commands fails: the language or the network is missing. */
const prepare = async (context: TestContext, cwd: string, lines: ReadonlyArray<string>): Promise<void> => {
  for (const line of lines) {
    const { code, stderr } = await run(line, cwd)
    const why = `left out, since this failed: ${line}: ${stderr.trim().split("\n").at(-1)}`
    if (code === 0) continue
    process.stdout.write(`${why}\n`)
    context.skip(why)
  }
}

const succeed = async (cwd: string, line: string): Promise<string> => {
  const { code, stdout, stderr } = await run(line, cwd)
  expect([line, code, code === 0 ? "" : stderr]).toEqual([line, 0, ""])
  return stdout
}

/** Makes a payment of 5 sats with a fee of 1,000, and triggers each error. */
const outcomeOf = async (cwd: string, command: string, account: number): Promise<unknown> => {
  const [from, to] = [node().accounts[account], node().accounts[0]]
  const stdout = await succeed(
    cwd,
    `${command} ${node().url} ${from?.secretKey.toSecretHex()} ${from?.address} ${to?.address}`,
  )
  return JSON.parse(stdout)
}

const EXPECTED = {
  hashes_agree: true,
  applied: true,
  memo: "hello",
  spent: 1_005,
  name: null,
  next_nonce: 1,
  codes: ["NonceTooLow", "NonceTooLow", "InvalidRequest", "TransactionNotFound"],
  field: "address",
}

const folderOf = (name: string): string => {
  const made = join(folder, name)
  mkdirSync(made)
  return made
}

const MINUTES = { timeout: 600_000 }

describe(Rest.of("generators and compilers of other languages", "a generated client"), MINUTES, () => {
  it("is typed and works in Python", async (context) => {
    const cwd = folderOf("python")
    const [curl = "", install = "", generate = ""] = commandsOf(
      "curl -o openapi",
      "pip install",
      "openapi-python-client",
    )
    const venv = "python3 -m venv --system-site-packages ../venv && python3 -c 'import cryptography'"
    await prepare(context, cwd, ["curl --version", venv, install])
    await succeed(cwd, curl)
    // A warning means that the client lacks part of the document.
    expect(await succeed(cwd, generate)).not.toMatch(/warning|unable|unsupported/i)
    writeFileSync(join(cwd, "sign.py"), programOf("python"))
    writeFileSync(join(cwd, "main.py"), PYTHON)
    expect(await outcomeOf(cwd, "python3 main.py", 1)).toEqual(EXPECTED)
  })

  it("is typed and works in Go", async (context) => {
    const cwd = folderOf("go")
    const [curl = "", folder = "", generate = "", get = ""] = commandsOf("curl -o openapi", "mkdir", "go run", "go get")
    const version = generate.replace(/ -generate.*/, " -version")
    await prepare(context, cwd, ["curl --version", "go mod init example", version, get])
    for (const line of [curl, folder, generate]) await succeed(cwd, line)
    writeFileSync(join(cwd, "sign.go"), programOf("go"))
    writeFileSync(join(cwd, "main.go"), GO)
    await succeed(cwd, "go mod tidy && go vet ./... && go build -o program .")
    expect(await outcomeOf(cwd, "./program", 2)).toEqual(EXPECTED)
  })
})
