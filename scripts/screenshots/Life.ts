/**
 * A real network of seven validators on this machine with everything that the explorer shows: payments with names and
 * memos, a delegation, epochs, a slashed validator, a stopped one, and a proposal of each status.
 */
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { Effect, Fiber } from "effect"
import { connect, type PromiseClient } from "../../src/client/Client.js"
import * as Wallet from "../../src/client/Wallet.js"
import { equivocator } from "../../test/network/Equivocator.js"
import * as Processes from "../../test/network/Processes.js"

const VALIDATORS = 7
/** Long enough for pictures of a proposal during its vote, and of one that passed and waits. */
const VOTING_ROUNDS = 300
const DELAY_ROUNDS = 600

export interface Life {
  readonly network: Processes.Founded
  readonly node: Processes.Started
  readonly client: PromiseClient
  readonly slashed: Wallet.Account
  readonly stopped: Wallet.Account
  /** A funded account. */
  readonly rich: Wallet.Account
  /** By status. */
  readonly proposals: Readonly<Record<Status, number>>
}

type Status = "Active" | "Passed" | "Executed" | "Failed" | "Rejected"

/** Sends an account's transactions one after the other. */
class Sender {
  readonly account: Wallet.Account
  readonly #client: PromiseClient
  #nonce = 0

  constructor(client: PromiseClient, account: Wallet.Account) {
    this.#client = client
    this.account = account
  }

  async send(make: (account: Wallet.Account, nonce: number) => Wallet.SignedTransaction): Promise<void> {
    await this.#client.transactions.submit({ payload: make(this.account, this.#nonce++) })
  }

  /** Sends them and waits until they are final. */
  async sendAndWait(make: (account: Wallet.Account, nonce: number) => Wallet.SignedTransaction): Promise<void> {
    await this.#client.sendAndWait(make(this.account, this.#nonce++))
  }
}

const fee = 1_000

const startHonest = async (network: Processes.Founded): Promise<ReadonlyArray<Processes.Started>> => {
  const nodes: Array<Processes.Started> = []
  for (let n = 1; n < VALIDATORS; n++) {
    const words = n === 1 ? ["--faucet-key", join(network.folder, "faucet.key")] : []
    nodes.push(await Processes.startValidator(network, n, nodes, ["--rate-limits", "off", ...words], "warn"))
  }
  return nodes
}

/** The first validator signs two vertices in every round until it is slashed. */
const slash = async (
  network: Processes.Founded,
  honest: ReadonlyArray<Processes.Started>,
  client: PromiseClient,
  { address }: Wallet.Account,
): Promise<void> => {
  const before = await client.staking.stakeOf({ path: { address } })
  const liar = Effect.runFork(Effect.provide(Effect.never, equivocator(network, honest)))
  await Processes.until(
    "it is slashed",
    async () => {
      const now = await client.staking.stakeOf({ path: { address } })
      return now.staked_amount < before.staked_amount
    },
    600_000,
  )
  await Effect.runPromise(Fiber.interrupt(liar))
}

const pay = async (client: PromiseClient, rich: Sender, validator: Sender): Promise<Wallet.Account> => {
  const alice = new Sender(client, Wallet.account(Wallet.network(await client.core.network()), Wallet.generate()))
  const { address } = alice.account
  await rich.sendAndWait((own, nonce) => own.transfer({ nonce, fee, to: address, amount: Wallet.sats("2500") }))
  const to = validator.account.address
  await alice.send((own, nonce) => own.registerName({ nonce, fee: 100_000, name: "alice" }))
  await alice.send((own, nonce) => own.delegate({ nonce, fee, validator: to, amount: Wallet.sats("1200") }))
  for (let n = 2; n < 30; n++) {
    const memo = n % 3 === 0 ? `Invoice ${n} of the month, with thanks for the quick delivery` : "for the show"
    await alice.send((own, nonce) => own.transfer({ nonce, fee, to, amount: Wallet.sats(`${n}.25`), memo }))
  }
  return alice.account
}

const propose = async (
  proposer: Sender,
  title: string,
  type: Parameters<Wallet.Account["createProposal"]>[0]["proposal_type"],
): Promise<void> =>
  proposer.sendAndWait((own, nonce) =>
    own.createProposal({
      ...{ nonce, fee, title, proposal_type: type },
      description: "Transfers cost validators little, and this lets more of them in. Nothing else changes.",
    }),
  )

const vote = async (voters: ReadonlyArray<Sender>, id: number, yes: number): Promise<void> => {
  for (const [i, voter] of voters.entries())
    await voter.send((own, nonce) => own.vote({ nonce, fee, proposal_id: id, vote: i < yes }))
}

/** One proposal of each status, with its number. */
const decide = async (client: PromiseClient, voters: ReadonlyArray<Sender>, alice: Wallet.Account) => {
  const [proposer] = voters
  if (proposer === undefined) throw new Error("nobody votes")
  const all = voters.length
  const isAt = (id: number, status: Status) => async () => {
    const { proposals } = await client.governance.proposals()
    return proposals.some((one) => one.id === id && one.status === status)
  }
  await propose(proposer, "Lower the price of a name", { ParameterChange: { param: "name_fee_sats", value: 50_000 } })
  await vote(voters, 1, all)
  await propose(proposer, "Spend more than there is", {
    TreasurySpend: { recipient: alice.address, amount: Wallet.sats("900000") },
  })
  await vote(voters, 2, all)
  await propose(proposer, "Rename the network", { Text: {} })
  await vote(voters.slice(0, 4), 3, 1)
  await Processes.until("the first ones have passed", isAt(2, "Passed"), 600_000)
  // It passes shortly after those are carried out, and waits as long as they did.
  const { last_finalized_round: now } = await client.core.status()
  await Processes.until(
    "it is time for the next one",
    async () => {
      const { last_finalized_round: round } = await client.core.status()
      return round > now + DELAY_ROUNDS - VOTING_ROUNDS
    },
    600_000,
  )
  await propose(proposer, "Pay for a second explorer", {
    TreasurySpend: { recipient: alice.address, amount: Wallet.sats("3") },
  })
  await vote(voters, 4, all)
  await Processes.until("the second one failed", isAt(2, "Failed"), 600_000)
  await Processes.until("the fourth one has passed", isAt(4, "Passed"), 600_000)
  await propose(proposer, "Lower the least fee to 500 sats", { ParameterChange: { param: "min_fee_sats", value: 500 } })
  await vote(voters.slice(0, 3), 5, 2)
  return { Executed: 1, Failed: 2, Rejected: 3, Passed: 4, Active: 5 }
}

/** Pays as long as the process runs, so that transactions are pending now and then. */
const keepPaying = async (rich: Sender, to: string): Promise<void> => {
  for (;;) {
    await rich
      .send((own, nonce) => own.transfer({ nonce, fee, to, amount: Wallet.sats("0.5"), memo: "again" }))
      .catch(() => undefined)
    await sleep(400)
  }
}

export const live = async (): Promise<Life> => {
  const network = Processes.found({
    ...{ validators: VALIDATORS, roundMs: 200, epochRounds: 120, checkpointRounds: 20, networkId: "udg-shown" },
    hasFaucet: true,
    time: Date.now(),
    parameters: { votingPeriodRounds: VOTING_ROUNDS, executionDelayRounds: DELAY_ROUNDS },
  })
  const honest = await startHonest(network)
  const [node, last] = [honest[0], honest.at(-1)]
  if (node === undefined || last === undefined) throw new Error("no node has started")
  const client = connect(node.http ?? "")
  const of = Wallet.network(await client.core.network())
  const accounts = network.keys.map((key) => Wallet.account(of, key))
  const [slashed, ...senders] = [accounts[0], ...accounts.slice(1).map((account) => new Sender(client, account))]
  const stopped = accounts.at(-1)
  const rich = new Sender(client, Wallet.account(of, network.rich))
  const [validator] = senders
  if (slashed === undefined || stopped === undefined || validator === undefined) throw new Error("no validators")
  await slash(network, honest, client, slashed)
  // A founder's coins are all staked.
  for (const { account } of senders)
    await rich.sendAndWait((own, nonce) =>
      own.transfer({ nonce, fee, to: account.address, amount: Wallet.sats("200") }),
    )
  const alice = await pay(client, rich, validator)
  for (const [i, name] of ["north", "harbour", "lighthouse"].entries())
    await senders[i + 2]?.send((own, nonce) => own.registerName({ nonce, fee: 100_000, name }))
  const proposals = await decide(client, senders, alice)
  await last.stop()
  void keepPaying(rich, alice.address)
  return { network, node, client, slashed, stopped, rich: rich.account, proposals }
}
