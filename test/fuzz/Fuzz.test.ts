/**
 * The whole replica against any message that one member of four and strangers can send. `UDG_FUZZ_MESSAGES` sets how
 * many, `UDG_FUZZ_SEED` the first run. Few messages make a single run.
 */
import { describe, expect, it } from "vitest"
import * as Rest from "../support/Rest.js"
import * as Fuzz from "./Fuzz.js"

const MOST_A_RUN = 25_000
/** One in this many runs has a hundred members. */
const RUNS = 5
const LIMIT_MS = 3 * 3_600_000

const MESSAGES = Number(process.env["UDG_FUZZ_MESSAGES"] ?? 16_000)
const firstSeed = Number(process.env["UDG_FUZZ_SEED"] ?? 1)

describe("three honest validators and a latecomer", () => {
  const survive = async (): Promise<void> => {
    const aRun = process.env["UDG_FUZZ_SEED"] === undefined ? Math.ceil(MESSAGES / RUNS) : MESSAGES
    let left = MESSAGES
    const relayed = new Set<string>()
    for (let seed = firstSeed; left > 0; seed++) {
      const messages = Math.min(left, aRun, MOST_A_RUN)
      const report = await Fuzz.run({ seed, messages })
      if (MESSAGES > RUNS * MOST_A_RUN) process.stdout.write(`${JSON.stringify(report)}\n`)
      if (report.failure !== null) {
        const again = `UDG_TESTS=all UDG_FUZZ_SEED=${seed} UDG_FUZZ_MESSAGES=${messages} npx vitest run test/fuzz`
        expect.unreachable(`seed ${seed}: ${report.failure}\nonce more: ${again}`)
      }
      for (const tag of Object.keys(report.relayed)) relayed.add(tag)
      left -= Math.max(1, report.messages)
    }
    expect([...relayed]).toEqual(expect.arrayContaining(["CheckpointSignature", "Transactions"]))
  }

  const SURVIVE = `survive ${MESSAGES} messages with one history, in bounded memory, and keep finalizing`

  it(Rest.of("fewer messages reach too little", SURVIVE), survive, LIMIT_MS)

  it("behave the same for the same seed", async () => {
    const options = { seed: firstSeed, messages: 1_000 }
    const { slowest: _, slowestMs: __, ...first } = await Fuzz.run(options)
    expect(await Fuzz.run(options)).toMatchObject(first)
  })
})
