/** Fatal errors of a running node, provoked in real networks: the line that its operator finds, and the exit code. */
import { copyFileSync, rmSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import * as Bundle from "../support/Bundle.js"
import { expectOneHistory } from "./History.js"
import * as Processes from "./Processes.js"
import * as Wallet from "./Wallet.js"

afterEach(Processes.removeAll)

const health = async ({ http }: Processes.Started): Promise<unknown> => {
  const answer: unknown = await (await fetch(`${http}/health`)).json()
  return typeof answer === "object" && answer !== null && "status" in answer ? answer.status : answer
}

const lastLine = (node: Processes.Started): string => node.log().trimEnd().split("\n").at(-1) ?? ""

/** The program with another rule for transfers. */
const plantedProgram = async (by: string): Promise<string> => {
  const outfile = `planted-${process.pid}/dist/main.mjs`
  const changes = [{ file: "src/ledger/rules/Transactions.ts", of: "applyTransfer", by }]
  const program = await Bundle.make({ entry: "src/main.ts", outfile, fault: { name: "another transfer", changes } })
  // The program reads its version from the folder above its own.
  copyFileSync(resolve(import.meta.dirname, "../../package.json"), join(dirname(program), "../package.json"))
  return program
}

/** One node of four whose ledger pays differently from the others'. */
const withPlanted = async (by: string) => {
  const network = Processes.found({ roundMs: 250, epochRounds: 240 })
  const program = await plantedProgram(by)
  const others: Array<Processes.Started> = []
  for (const n of [0, 1, 2]) others.push(await Processes.startValidator(network, n, others))
  const way = { execArgv: [], environment: {}, program }
  const planted = await Processes.startValidator(network, 3, others, [], undefined, way)
  await Processes.everybodyAt([...others, planted], 5)
  const before = await health(planted)
  const [first] = others
  if (first === undefined) throw new Error("there is no first node")
  const sent = await Wallet.pay(first, network, 3)
  const code = await planted.ended
  await Processes.until("the others go on", () => others.every((at) => Processes.notRecorded(at, sent).length === 0))
  const round = Math.max(...others.map(Processes.finalizedRound))
  await Processes.everybodyAt(others, round + 12)
  await expectOneHistory(others, round)
  expect(await Promise.all(others.map(health))).toEqual(["ok", "ok", "ok"])
  rmSync(dirname(dirname(program)), { recursive: true })
  return { before, code, line: lastLine(planted) }
}

describe("a running node", () => {
  it("with a ledger that creates coins ends with 101, and the others continue", async () => {
    const found = await withPlanted("(state, _row, _recipient, { to, amount }) => state.creditAddress(to, amount)")
    expect(found).toEqual({
      before: "ok",
      code: 101,
      line: expect.stringMatching(
        /supply invariant violated: .*found liquid \d+ .*, expected liquid \d+ .* exitCode=101$/,
      ),
    })
  })

  it("with coins in memory that no transaction created ends with 101, although none of it reaches the disk", async () => {
    const odd = '"ab".repeat(20)'
    const found = await withPlanted(
      `(state, row, recipient, { to, amount }) => {
        state.pay(row, recipient ?? state.accounts.findOrAdd(to), amount)
        state.accounts.restorePlain(${odd}, 5, 0)
      }`,
    )
    expect(found).toEqual({
      before: "ok",
      code: 101,
      line: expect.stringMatching(
        /supply invariant violated: balances and held bonds do not add up to the liquid total; .* exitCode=101$/,
      ),
    })
  })

  it("with another state than a quorum's ends with 100, and the others continue", async () => {
    const found = await withPlanted("(state, row, _recipient, { amount }) => state.pay(row, row, amount)")
    expect(found).toEqual({
      before: "ok",
      code: 100,
      line: expect.stringMatching(/finality rollback: a quorum signed checkpoint .* exitCode=100$/),
    })
  })

  // Two of four sign everything twice, one version for each of the honest two, which are not connected.
  it("that meets a second history, signed by more than a third, ends with 100", async () => {
    const network = Processes.found({ roundMs: 250, epochRounds: 240 })
    const half = async (honest: number, mark: string) => {
      const nodes: Array<Processes.Started> = []
      for (const n of [0, 1]) {
        const key = ["--validator-key", `${network.folder}/${n}.key`, ...nodes.flatMap(({ p2p }) => ["--peer", p2p])]
        nodes.push(await Processes.start(network, `${n}${mark}`, key))
      }
      const last = await Processes.startValidator(network, honest, nodes)
      await Processes.everybodyAt([...nodes, last], 15)
      return { nodes, honest: last }
    }
    const one = await half(2, "one")
    const other = await half(3, "other")
    expect(await Promise.all([health(one.honest), health(other.honest)])).toEqual(["ok", "ok"])
    await other.honest.stop()
    const peers = [one.honest, ...other.nodes]
    const restarted = await Processes.startValidator(network, 3, peers)
    const [code, node] = await Promise.race(
      [one.honest, restarted].map(async (each) => [await each.ended, each] as const),
    )
    expect(code).toBe(100)
    // Either of the two, depending on which it meets first.
    expect(lastLine(node)).toMatch(
      /finality rollback: (round \d+ has two certified leaders|the vertices decide the leader of round|a quorum signed).* exitCode=100$/,
    )
  })
})
