/** The figures in docs/economics.md, docs/governance.md and docs/operations/ match the code. */
import { describe, expect, it } from "vitest"
import * as GenesisTools from "../../src/cli/GenesisTools.js"
import * as Help from "../../src/cli/settings/Help.js"
import * as Rewards from "../../src/ledger/rules/Rewards.js"
import * as Protocol from "../../src/protocol/epoch/Protocol.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import { Chain, coins, person, told } from "../ledger/builders.js"
import { textOf as opsTextOf } from "../ops/Kit.js"
import { textOf } from "./Pages.js"

/** The rows of the table that begins with this heading. */
const rowsUnder = (page: string, heading: string): ReadonlyArray<ReadonlyArray<string>> => {
  const tables = textOf(page)
    .split(/\n(?!\|)/)
    .map((part) =>
      part
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .map((line) =>
          line
            .split("|")
            .slice(1, -1)
            .map((cell) => cell.trim().replaceAll("`", "")),
        ),
    )
  const found = tables.find(([first = []]) => first[0] === heading)
  if (found === undefined) throw new Error(`${page} has no table of ${heading}`)
  return found.slice(2)
}

describe("docs/governance.md", () => {
  it("has the values of a solo network that differ", () => {
    const standard = Parameters.standard(Protocol.standard.epochRounds)
    expect(rowsUnder("docs/governance.md", "on a solo network")).toStrictEqual(
      Parameters.table
        .filter(({ key }) => Parameters.solo[key] !== standard[key])
        .map(({ name, key }) => [name, String(Parameters.solo[key])]),
    )
  })
})

describe("docs/parameters.md", () => {
  const rows = textOf("docs/parameters.md")
    .split("\n")
    .flatMap((line) => [...line.matchAll(/^\| `(--[a-z-]+)` +\| (.+?) +\|/g)])
    .map(([, option = "", otherwise = ""]) => [option, otherwise] as const)

  it("has every parameter that a vote can change, with its default", () => {
    const governed = Parameters.table.map(({ name, standard }) => [`--${name.replaceAll("_", "-")}`, String(standard)])
    expect(rows.slice(4).sort()).toStrictEqual(governed.sort())
  })

  it("has the defaults of udg genesis new", async () => {
    const help = Help.render(GenesisTools.command.page(""), false).replaceAll(/\s+/g, " ")
    for (const [option, otherwise] of rows) {
      const [, meant] = new RegExp(`${option} [A-Z|a-z]+ .*?\\[default: (.*?)\\]`).exec(help) ?? []
      expect([option, meant?.replace(/ UDG$/, "")]).toEqual([option, otherwise])
    }
  })
})

describe("docs/economics.md", () => {
  it("shares the reward of its example as the ledger does", () => {
    const { treasury, perCouncilSeat, pool, author } = Rewards.split(Sats.make(10_000_000), {
      rules: Parameters.solo,
      councilSeats: 1,
      ownStake: Sats.make(100_000 * Sats.SATS_PER_COIN),
      workingPool: Sats.make(50_000 * Sats.SATS_PER_COIN),
      commissionPercent: 10,
    })
    const rows = rowsUnder("docs/economics.md", "recipient").map(([recipient, sats = ""]) => [
      recipient,
      Number(sats.replaceAll(",", "")),
    ])
    expect(Object.fromEntries(rows)).toStrictEqual({
      treasury,
      council: perCouncilSeat,
      delegators: pool,
      validator: author,
    })
  })

  it("has the schedule of the standard genesis", () => {
    const { roundReward, halvingRounds, roundIntervalMs } = Protocol.standard
    const page = textOf("docs/economics.md")
    const written = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",")
    expect(page).toContain(`⌊${written(roundReward)} ÷ 2^⌊(r − 1) ÷ ${written(halvingRounds)}⌋⌋`)
    const roundsOfADay = 86_400_000 / roundIntervalMs
    expect(page).toContain(`${written(roundsOfADay)} rounds a day`)
    expect(page).toContain(`${written((roundsOfADay * roundReward) / Sats.SATS_PER_COIN)} UDG a day`)
    expect(page).toContain(`about ${Math.round(halvingRounds / roundsOfADay)} days`)
    expect(page).toContain(written(Sats.MAX_SUPPLY))
  })
})

describe("the cost of ten million accounts", () => {
  const MADE = 20
  const ALL = 10_000_000

  /**
   * In coins: what a sender pays for accounts with a sat each, and how much of it the treasury and the validator get.
   */
  const costAt = (accountFee: number) => {
    const [alice, author] = [person("alice"), person("val")]
    const chain = new Chain({
      accounts: { alice: 9_000 },
      parameters: { accountFee },
      protocol: { roundReward: Sats.ZERO },
    })
    const made = Array.from({ length: MADE }, (_, i) =>
      chain.transfer(alice, person(`new ${i}`), 1, Parameters.solo.minFee + accountFee),
    )
    expect(chain.run(...made).map(told)).toEqual(made.map(() => "applied"))
    const inCoins = (sats: number): number => ((sats / MADE) * ALL) / Sats.SATS_PER_COIN
    return {
      paid: inCoins(coins(9_000) - chain.balance(alice)),
      toTreasury: inCoins(chain.ledger.read.totals.treasury),
      toAuthor: inCoins(chain.balance(author)),
    }
  }

  const written = (amount: number): string => Math.floor(amount).toLocaleString("en")

  it("is what docs/economics.md and its decision say, as the ledger charges it", () => {
    const [economics, decision] = [textOf("docs/economics.md"), textOf("docs/decisions/state-bloat.md")]
    const free = costAt(0)
    const { accountFee } = Parameters.standard(240)
    const dear = costAt(accountFee)
    expect([free.toTreasury, dear.toAuthor]).toEqual([0, free.toAuthor])
    expect(economics.replace(/\s+/g, " ")).toContain(
      `cost ${written(dear.paid)} UDG instead of ${written(free.paid)}, of which ${written(dear.toTreasury)} reach no author`,
    )
    expect(decision).toContain(`${free.paid} UDG |`)
    const share = ((100 * dear.toTreasury) / (Sats.MAX_SUPPLY / Sats.SATS_PER_COIN)).toFixed(2)
    expect(decision).toContain(
      `${written(accountFee)} (${accountFee / Sats.SATS_PER_COIN} UDG) | ${written(dear.toTreasury)} UDG, ${share} % of all coins`,
    )
  })
})

describe("docs/operations/alerts.md", () => {
  it("has each alert with its severity and duration, as in the rules", () => {
    const rules = [
      ...opsTextOf("prometheus/alerts.yml").matchAll(
        /- alert: (\S+)\s+expr: .+\s+for: (\S+)\s+labels:\s+severity: (\S+)/g,
      ),
    ]
    expect(rules.length).toBeGreaterThan(10)
    const sections = textOf("docs/operations/alerts.md").matchAll(/^## (Udg\w+)\n\n(\w+), (?:after (\S+)|at once)\./gm)
    expect([...sections].map(([, ...told]) => told).toSorted()).toStrictEqual(
      rules
        .map(([, name, wait, severity = ""]) => [
          name,
          severity[0]?.toUpperCase() + severity.slice(1),
          wait === "0m" ? undefined : wait,
        ])
        .toSorted(),
    )
  })
})
