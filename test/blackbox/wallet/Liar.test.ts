/** A node that lies to the wallet, fails at the worst moment, or sends control sequences for a terminal. */

import { writeFileSync } from "node:fs"
import { createServer, request, type Server } from "node:http"
import { join } from "node:path"
import { Effect, Either, Option, Schema, SchemaAST } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import * as Wallet from "../../../src/client/Wallet.js"
import type { Hash } from "../../../src/protocol/identity/Hash.js"
import * as Core from "../../../src/rpc/api/Core.js"
import * as Failure from "../../../src/rpc/api/Failure.js"
import * as Transactions from "../../../src/rpc/api/Transactions.js"
import * as TestServer from "../../rpc/TestServer.js"
import { Person } from "./Person.js"

// Each step starts a process, and each passphrase deliberately takes half a second.

type Lies = NonNullable<Parameters<typeof TestServer.start>[1]>

const key = Wallet.generate()
let alice: Person
beforeAll(() => {
  alice = new Person({})
  writeFileSync(join(alice.home, "plain.key"), key.toSecretHex(), { mode: 0o600 })
})
afterAll(() => alice.leave())

let submitted: Array<unknown> = []
const closing: Array<() => Promise<unknown> | undefined> = []
afterEach(async () => {
  submitted = []
  for (const close of closing.splice(0)) await close()
})

/** The example of a definition. */
const example = <A, I>(schema: Schema.Schema<A, I>): A =>
  Schema.validateSync(schema)(Option.getOrThrow(SchemaAST.getExamplesAnnotation(schema.ast))[0])

const info = example(Core.NetworkInfo)
const balance = example(Core.Balance)
const lookup = example(Transactions.Lookup)

/** Accepts every transaction, with this hash. */
const accepting =
  (hash: () => Hash): NonNullable<NonNullable<Lies["transactions"]>["submit"]> =>
  ({ payloads }) =>
    Effect.sync(() => {
      submitted.push(...payloads)
      return payloads.map(({ nonce }) => Either.right({ tx_hash: hash(), status: "accepted" as const, nonce }))
    })

/** A node that answers correctly, except for these lies. */
const node = async ({ core, transactions }: Lies): Promise<string> => {
  const server = await TestServer.start(
    {},
    {
      core: {
        network: () => Effect.succeed(info),
        balance: ({ path }) =>
          Effect.succeed({ ...balance, address: path.address as never, nonce: 3, next_nonce: 3 } as never),
        ...core,
      },
      transactions: {
        submit: accepting(() => lookup.hash),
        ...transactions,
      },
    },
  )
  closing.push(server.stop)
  return server.url
}

const pay = (url: string, ...more: ReadonlyArray<string>) =>
  alice.udg("send", "aa".repeat(20), "1", "--key", "plain.key", "--node", url, ...more)

const network = (change: Partial<typeof info.parameters>) => ({
  core: { network: () => Effect.succeed({ ...info, parameters: { ...info.parameters, ...change } }) },
})

/** The hash of what the node was sent, as the wallet computes it. */
const computed = (): Hash => {
  const { pub_key, signature, ...unsigned } = submitted[0] as Record<string, unknown>
  expect([pub_key, signature]).not.toContain(undefined)
  return Wallet.hashOf(Wallet.parseUnsigned(Wallet.network(info), unsigned))
}

describe("a lying node", () => {
  it("gets no signature with a false network where the wallet knows better", async () => {
    const { code, stderr } = await pay(await node({}), "--network", "my-net")
    expect({ code, submitted }).toEqual({ code: 3, submitted: [] })
    expect(stderr).toContain(`is a node of "${info.network_id}", not of the network in --network`)
  })

  it("gets at most a hundred times the usual fee, unless the fee is given", async () => {
    const url = await node(network({ min_fee_sats: 100_000_000 }))
    const asked = await pay(url)
    expect({ ...asked, submitted }).toEqual({
      code: 3,
      stdout: "",
      stderr: "udg: the node asks for a fee of 1 UDG; the usual fee is 0.00001 UDG; to pay it anyway, use --fee\n",
      submitted: [],
    })
    await pay(url, "--fee", "1", "--no-wait")
    expect(submitted).toMatchObject([{ fee: 100_000_000 }])
  })

  it("gets at most the price of an account for a false recipient, and no more than ten times the usual", async () => {
    const lie = (account_fee_sats: number) => ({
      core: {
        ...network({ account_fee_sats }).core,
        balance: ({ path }: { readonly path: { readonly address: string } }) =>
          Effect.succeed({ ...balance, address: path.address, nonce: 3, next_nonce: 3, exists: false } as never),
      },
    })
    const refused = await pay(await node(lie(11_100_000)))
    expect({ code: refused.code, submitted }).toEqual({ code: 3, submitted: [] })
    expect(refused.stderr).toContain("asks for a fee of 0.11101 UDG; the usual fee is 0.01101 UDG;")
    await pay(await node(lie(1_100_000)), "--no-wait")
    expect(submitted).toMatchObject([{ fee: 1_101_000 }])
  })

  it.each([
    ["a nonce far ahead", { next_nonce: 1_000 }],
    ["a nonce behind", { next_nonce: 2 }],
    ["another account", { address: balance.address }],
  ])("gets no signature with a false account, with %s", async (_, lie) => {
    const url = await node({
      core: {
        balance: ({ path }) =>
          Effect.succeed({ ...balance, address: path.address, nonce: 3, next_nonce: 3, ...lie } as never),
      },
    })
    const { code, stderr } = await pay(url)
    expect({ code, submitted }).toEqual({ code: 3, submitted: [] })
    expect(stderr).toContain(": its answer cannot be true: ")
  })

  it("is detected when it resolves a name to another account", async () => {
    const url = await node({ core: { balance: () => Effect.succeed({ ...balance, name: "mallory" } as never) } })
    const { code, stderr } = await alice.udg("send", "@alice", "1", "--key", "plain.key", "--node", url)
    expect({ code, submitted }).toEqual({ code: 3, submitted: [] })
    expect(stderr).toContain(": its answer cannot be true: it is about @mallory instead of @alice; ")
  })

  it("is not believed when it returns another hash", async () => {
    const { code, stdout, stderr } = await pay(await node({}))
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" })
    expect(stderr).toContain(
      `its answer cannot be true: it accepted transaction ${lookup.hash} instead of ${computed()}`,
    )
    expect(stderr).toContain(`; before you repeat it, check with udg tx ${computed()}`)
  })

  it("is detected when it returns something else in a lookup", async () => {
    const { code, stderr } = await alice.udg("tx", "ab".repeat(32), "--node", await node({}))
    expect(code).toBe(3)
    expect(stderr).toContain(`do not trust`)
    expect(stderr).toContain(`it is about the hash ${lookup.hash} instead of ${"ab".repeat(32)}`)
  })
})

describe("others' texts", () => {
  it("cannot control the terminal, in words or in JSON", async () => {
    const memo = "\u001b[2J\u001b]0;owned\u0007\r\u202egnp"
    const network = Wallet.network(info)
    const fields = { to: "aa".repeat(20), amount: Wallet.sats("1"), fee: 1_000, nonce: 0, memo }
    const unsigned = Wallet.unsigned(network, Wallet.account(network, key).address, "Transfer", fields)
    const transaction = Wallet.sign(unsigned, key)
    const hash = Wallet.hashOf(unsigned)
    const url = await node({
      transactions: {
        lookup: () =>
          Effect.succeed({
            ...lookup,
            applied: false,
            failure: memo,
            hash,
            transaction,
          } as never),
      },
    })
    for (const more of [[], ["--json"]]) {
      const { stdout, stderr } = await alice.udg("tx", hash, "--node", url, ...more)
      expect(stdout).toContain("\\u001b[2J\\u001b]0;owned\\u0007")
      expect(stdout + stderr).not.toMatch(/(?!\n)\p{Cc}|\p{Cf}/u)
    }
    const refusing = await node({ core: { status: () => Effect.die(memo) } })
    const { stderr } = await alice.udg("status", "--node", refusing)
    expect(stderr).toMatch(/^udg: [^\p{Cc}]+\n$/u)
  })
})

describe("a node that fails", () => {
  /** Forwards requests, but closes the connection after it has received the transaction. */
  const hangingUp = async (behind: string): Promise<string> => {
    const server: Server = createServer((incoming, outgoing) => {
      const onward = request(`${behind}${incoming.url}`, { method: incoming.method, headers: incoming.headers })
      incoming.pipe(onward)
      onward.on("response", (answer) => {
        if (incoming.url === "/tx/submit") {
          answer.resume()
          outgoing.destroy()
          return
        }
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
    })
    await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle))
    closing.push(async () => void server.close())
    const address = server.address()
    if (address === null || typeof address === "string") throw new Error("it listens on a port")
    return `http://127.0.0.1:${address.port}`
  }

  it("after it received the transaction leaves the outcome open, with the hash to ask for", async () => {
    const { code, stdout, stderr } = await pay(await hangingUp(await node({})))
    expect({ code, stdout }).toEqual({ code: 5, stdout: "" })
    expect(submitted).toHaveLength(1)
    expect(stderr).toContain(
      `but may not have arrived: it closed the connection; before you repeat it, check with udg tx ${computed()}`,
    )
  })

  it("with a bug after it received the transaction leaves the outcome open too", async () => {
    const { code, stderr } = await pay(await node({ transactions: { submit: () => Effect.die("a bug") } }))
    expect(code).toBe(5)
    expect(stderr).toContain("but may not have arrived")
  })

  it("by forgetting the transaction leaves the outcome open", async () => {
    const failing = await node({
      transactions: {
        submit: accepting(computed),
        lookup: ({ path }) => Effect.fail(new Failure.TransactionNotFound({ message: `no transaction ${path.hash}` })),
      },
    })
    const { code, stderr } = await pay(failing)
    expect(code).toBe(5)
    expect(stderr).toContain(`the node no longer knows ${computed()}`)
  })
})
