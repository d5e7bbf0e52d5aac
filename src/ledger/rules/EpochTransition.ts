/** How epochs begin: the first from the genesis, every other from the commit that closes the previous one. */

import * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as FirstEpoch from "../../protocol/epoch/FirstEpoch.js"
import * as Genesis from "../../protocol/epoch/Genesis.js"
import * as Address from "../../protocol/identity/Address.js"
import * as Hash from "../../protocol/identity/Hash.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import * as StateKey from "../../protocol/state/StateKey.js"
import type { Commit } from "../../protocol/vertex/Commit.js"
import type { State } from "../tables/State.js"
import * as Committee from "./Committee.js"
import * as Heartbeats from "./Heartbeats.js"
import * as Slashing from "./Slashing.js"
import * as Unlocking from "./Unlocking.js"

const begin = (state: State, record: EpochRecord.EpochRecord, weighedIn: Natural.Epoch): void => {
  state.epoch = { weighedIn, base: Hash.ZERO, record }
}

export const close = (state: State, commit: Commit): EpochRecord.EpochRecord => {
  const { record, weighedIn } = state.epoch
  Unlocking.depart(state)
  const { members, isKeptOn } = Committee.next(state)
  const next = EpochRecord.made({
    epoch: Natural.epoch(record.epoch + 1),
    firstRound: Natural.round(commit.leaderRound + 1),
    seed: FirstEpoch.nextSeed(record.seed, commit.hash),
    // The record follows the closing epoch's rules, so that nodes without the next version make the same one.
    rules: FirstEpoch.rulesOf(state.protocol, state.parameters, state.upgrade ?? record.rules.protocolVersion),
    members,
  })
  state.upgrade = null
  Slashing.forget(state)
  state.minted.clear()
  Heartbeats.startOver(state, commit.index)
  state.epochs.delete(StateKey.counter(record.epoch - 1))
  begin(state, next, isKeptOn ? weighedIn : next.epoch)
  return next
}

const foundAccounts = (state: State, genesis: Genesis.Genesis): void => {
  for (const { address, amount } of genesis.allocations) state.creditAddress(address, amount)
  for (const address of genesis.council) state.update(state.accounts.findOrAdd(address), { isCouncilMember: true })
  for (const { name, address } of genesis.names) state.update(state.accounts.findOrAdd(address), { name })
}

const foundValidators = (state: State, { validators }: Genesis.Genesis): void => {
  for (const { publicKey, stake, commissionPercent } of validators) {
    const address = Address.fromPublicKey(publicKey)
    const row = state.accounts.findOrAdd(address)
    state.update(row, { publicKey, stake: { amount: stake, leaving: null } })
    state.supply.increase("staked", stake)
    state.setValidator(address, { ...state.newValidator(), commissionPercent })
  }
}

/** Fills an empty state: commit 0, which closes epoch 0. */
export const found = (state: State, genesis: Genesis.Genesis): void => {
  const hash = Genesis.hash(genesis)
  const { parameters, treasury, time } = genesis
  foundAccounts(state, genesis)
  foundValidators(state, genesis)
  state.supply.increase("treasury", treasury)
  const { liquid, staked } = state.supply.totals
  for (const amount of [liquid, staked, treasury]) state.supply.mint(amount)
  state.parameters = parameters
  const [index, leaderRound] = [Natural.commitIndex(0), Natural.round(0)]
  state.head = { index, hash, leaderRound, time, nextProposalId: Natural.proposalId(1) }
  const first = FirstEpoch.of(genesis)
  begin(state, first, first.epoch)
  state.recentCommits.set(StateKey.counter(index), { hash, leaderRound })
}
