/** The explorer of a node whose program does not know the version of the protocol that a vote puts in force. */
import { afterEach, expect, it } from "vitest"
import { connect } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import * as OldProgram from "../network/OldProgram.js"
import * as Processes from "../network/Processes.js"
import * as Axe from "./Axe.js"
import * as Visitor from "./Visitor.js"

const oldProgram = OldProgram.forTests()

afterEach(() => Processes.removeAll())
const visitor = Visitor.forTests()

const WORDS = ["--rate-limits", "off"]

const WARNING = `the network upgrades to protocol version ${ProtocolVersion.NEWEST}, but this program knows only up to ${ProtocolVersion.FIRST}`

it("warns on every page as soon as the vote has passed, and says that the node is gone after it", async () => {
  const parameters = { votingPeriodRounds: 60, executionDelayRounds: 30 }
  const network = Processes.found({
    validators: 2,
    roundMs: 150,
    epochRounds: 200,
    networkId: "udg-upgrade-page",
    parameters,
  })
  const oldWay = { ...Processes.DIRECT, program: oldProgram() }
  const first = await Processes.startValidator(network, 0, [], WORDS)
  const old = await Processes.startValidator(network, 1, [first], WORDS, undefined, oldWay)
  const { page, troubles } = await visitor.openTroubled()
  await page.goto(`${old.http}/explorer/`)
  await page.locator(".pulse.live b").waitFor()
  const problems = page.locator(".problems")
  expect(await problems.textContent()).not.toContain("upgrade")

  const client = connect(first.http ?? "")
  const of = Wallet.network(await client.core.network())
  const [one, two] = network.keys.map((key) => Wallet.account(of, key))
  const proposal_type = { ParameterChange: { param: "protocol_version", value: ProtocolVersion.NEWEST } } as const
  if (one === undefined || two === undefined) return expect.fail()
  // A validator's first rewards come later than this on a quick machine.
  const rich = Wallet.account(of, network.rich)
  await client.sendAndWait(rich.transfer({ nonce: 0, fee: 1_000, to: one.address, amount: 10_000_000 }))
  await client.sendAndWait(rich.transfer({ nonce: 1, fee: 1_000, to: two.address, amount: 10_000_000 }))
  await client.sendAndWait(
    one.createProposal({ nonce: 0, fee: 1_000, title: "Upgrade", description: "", proposal_type }),
  )
  await client.sendAndWait(one.vote({ nonce: 1, fee: 1_000, proposal_id: 1, vote: true }))
  await client.sendAndWait(two.vote({ nonce: 0, fee: 1_000, proposal_id: 1, vote: true }))

  await problems.getByText(WARNING).waitFor()
  expect(await Axe.seriousOn(page)).toEqual([])
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Validators" }).click()
  await page.getByRole("heading", { level: 1, name: "Validators" }).waitFor()
  await problems.getByText(WARNING).waitFor()
  expect((await client.core.healthReport()).problems.filter(({ component }) => component === "upgrade")).toEqual([])

  expect(await old.ended).toBe(103)
  await page.locator(".pulse.lost").waitFor()
  expect(troubles.filter((trouble) => !/ERR_CONNECTION|ERR_INCOMPLETE|ERR_EMPTY|Failed to load/.test(trouble))).toEqual(
    [],
  )
})
