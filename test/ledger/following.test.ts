/** A read-only ledger that applies the changed records of another ledger's commits, like a gateway with its archive. */
import { setImmediate as turn } from "node:timers/promises"
import { Either } from "effect"
import { afterEach, expect, it } from "vitest"
import { toHex } from "#crypto"
import { NOT_READ } from "../../src/gateway/RecordCache.js"
import { Ledger } from "../../src/ledger/Ledger.js"
import type { Change } from "../../src/ledger/tables/Effects.js"
import { fromRecords } from "../support/Restored.js"
import { tableKey } from "./builders.js"
import { cast, lives, Play } from "./Play.js"

// The lives are synchronous, and the runner gives up on a worker that is silent for a minute.
afterEach(() => turn())

const SEED = 20_261_126

/** All answers of a ledger about these people and in general. */
const answersOf = ({ read }: Ledger): string => {
  const proposals = read.proposals(1_000)
  const all = {
    head: read.head,
    totals: read.totals,
    parameters: read.parameters,
    epoch: read.epoch,
    council: read.council(),
    active: read.activeValidatorCount,
    validators: read.validators(500),
    proposals,
    voters: proposals.map(({ id }) => read.voters(id)),
    people: cast.map(({ address }) => {
      const { name } = read.account(address)
      const { delegators, ...sums } = read.delegators(address, 500)
      return {
        ...{ account: read.account(address), owner: name === null ? null : read.addressOf(name) },
        ...{ stake: read.stake(address), delegation: read.delegation(address), sums },
        delegators: delegators.toSorted((a, b) => (a.address < b.address ? -1 : 1)),
      }
    }),
  }
  return JSON.stringify(all, (_, value) => (typeof value === "bigint" ? `${value}n` : value))
}

it("answers like the original, however many commits it takes over at once", { timeout: 600_000 }, () => {
  let followed = 0
  let anew = 0
  lives({ seed: SEED, count: 12, length: 100 }, (stage, steps) => {
    const play = new Play(stage)
    const { chain } = play
    const { protocol } = chain.genesis
    let reader = Ledger.fromGenesis(chain.genesis, tableKey)
    // The last value of each record, as an archive has it.
    const changed = new Map<string, Change>()
    steps.forEach((step, i) => {
      for (const { kind, key, value } of play.commit(step).execution.changes)
        changed.set(`${kind} ${toHex(key)}`, { kind, key: key.slice(), value: value?.slice() ?? null })
      if (step.size % 3 === 2 && i < steps.length - 1) return
      const before = answersOf(reader)
      if (Either.getOrThrow(reader.follow([...changed.values()].filter(({ kind }) => !NOT_READ.includes(kind)))))
        followed++
      else {
        anew++
        const isDue = [...changed.values()].some(
          ({ kind, value }) => kind === "Epoch" || kind === "Slashed" || (kind === "Account" && value === null),
        )
        if (!isDue) throw new Error(`after step ${i} it is to be made anew, and no epoch closed and nobody was slashed`)
        if (answersOf(reader) !== before) throw new Error("it has taken over a part")
        reader = Either.getOrThrow(fromRecords(protocol, tableKey, chain.ledger.records(), chain.ledger.effectsDigest))
      }
      changed.clear()
      const [own, its] = [answersOf(reader), answersOf(chain.ledger)]
      if (own !== its) throw new Error(`after step ${i}\n${own}\n${its}`)
    })
  })
  // Epochs are short here.
  expect(followed).toBeGreaterThan(anew / 2)
})
