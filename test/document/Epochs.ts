/** Epoch records, checkpoints, and the genesis from its file to its checkpoint. */
import * as B from "./Bytes.js"
import { addressOf, domain, isName, isValid, mulDiv, type Network, parseAddress } from "./Identity.js"
import * as State from "./State.js"

export interface Member {
  readonly address: string
  readonly pub_key: string
  readonly weight: number
}

export interface EpochRecord {
  readonly epoch: number
  readonly first_round: number
  readonly seed: string
  readonly rules: {
    readonly epoch_rounds: number
    readonly protocol_version: number
    readonly collection_depth_rounds: number
    readonly checkpoint_interval_rounds: number
    readonly round_reward: number
    readonly halving_rounds: number
    readonly treasury_percent: number
    readonly council_percent: number
  }
  readonly members: ReadonlyArray<Member>
}

const mustHold = (holds: boolean): void => {
  if (!holds) throw new B.Refused("rule")
}

export const totalWeight = ({ members }: EpochRecord): number => members.reduce((sum, { weight }) => sum + weight, 0)

export const readEpoch = (reader: B.Reader): EpochRecord => {
  const [epoch, first_round, seed] = [reader.u64(), reader.u64(), reader.hash()]
  const rules = {
    epoch_rounds: reader.u32(),
    protocol_version: 2 + reader.u32(),
    collection_depth_rounds: reader.u64(),
    checkpoint_interval_rounds: reader.u64(),
    round_reward: reader.amount(),
    halving_rounds: reader.u64(),
    treasury_percent: reader.u8(),
    council_percent: reader.u8(),
  }
  const members = reader.list8(100, () => {
    const [pub_key, weight] = [reader.key(), reader.amount()]
    return { address: addressOf(pub_key), pub_key, weight }
  })
  const record = { epoch, first_round, seed, rules, members }
  mustHold(first_round >= 1 && BigInt(first_round) + BigInt(rules.epoch_rounds) <= B.MAX_SAFE)
  mustHold(rules.epoch_rounds >= 1 && rules.checkpoint_interval_rounds >= 1 && rules.halving_rounds >= 1)
  mustHold(rules.treasury_percent + rules.council_percent <= 100)
  mustHold(members.length >= 1 && members.every(({ weight }) => weight >= 1) && totalWeight(record) <= B.MAX_SUPPLY)
  B.requireAscending(members.map(({ address }) => address))
  return record
}

export const writeEpoch = ({ epoch, first_round, seed, rules, members }: EpochRecord): Uint8Array =>
  B.join(
    ...[B.u64(epoch), B.u64(first_round), B.bytes(seed)],
    ...[B.u32(rules.epoch_rounds), B.u32(rules.protocol_version - 2)],
    ...[B.u64(rules.collection_depth_rounds), B.u64(rules.checkpoint_interval_rounds), B.u64(rules.round_reward)],
    ...[B.u64(rules.halving_rounds), B.u8(rules.treasury_percent), B.u8(rules.council_percent)],
    B.list8(members, ({ pub_key, weight }) => B.join(B.bytes(pub_key), B.u64(weight))),
  )

export const lastRound = ({ first_round, rules }: EpochRecord): number => first_round + rules.epoch_rounds - 1

export const isQuorum = (weight: number, total: number): boolean => 3n * BigInt(weight) > 2n * BigInt(total)

export const roundReward = ({ rules }: EpochRecord, round: number): number =>
  round === 0
    ? 0
    : Number(BigInt(rules.round_reward) >> BigInt(Math.min(63, Math.floor((round - 1) / rules.halving_rounds))))

export const coinbase = (record: EpochRecord, round: number, { weight }: Member): number =>
  mulDiv(roundReward(record, round), weight, totalWeight(record))

export interface Checkpoint {
  readonly epoch: number
  readonly round: number
  readonly commit_index: number
  readonly commit_hash: string
  readonly effects_digest: string
  readonly state_root: string
  readonly total_supply: number
  readonly next_epoch: EpochRecord | null
  readonly previous: string
}

export const readCheckpoint = (reader: B.Reader): Checkpoint => ({
  epoch: reader.u64(),
  round: reader.u64(),
  commit_index: reader.u64(),
  commit_hash: reader.hash(),
  effects_digest: reader.hash(),
  state_root: reader.hash(),
  total_supply: reader.amount(),
  next_epoch: reader.bool() ? readEpoch(reader) : null,
  previous: reader.hash(),
})

export const writeCheckpoint = (checkpoint: Checkpoint): Uint8Array => {
  const { epoch, round, commit_index, commit_hash, effects_digest, state_root, total_supply } = checkpoint
  return B.join(
    ...[B.u64(epoch), B.u64(round), B.u64(commit_index), B.bytes(commit_hash), B.bytes(effects_digest)],
    ...[B.bytes(state_root), B.u64(total_supply), B.bool(checkpoint.next_epoch !== null)],
    checkpoint.next_epoch === null ? B.join() : writeEpoch(checkpoint.next_epoch),
    B.bytes(checkpoint.previous),
  )
}

export const signedCheckpoint = (checkpoint: Checkpoint): Uint8Array =>
  B.join(domain("udg/checkpoint"), writeCheckpoint(checkpoint))

export const checkpointHash = (checkpoint: Checkpoint): string => B.H("udg/checkpoint-id", signedCheckpoint(checkpoint))

export interface Signature {
  readonly validator: string
  readonly signature: string
}

export const readSignatures = (reader: B.Reader): ReadonlyArray<Signature> => {
  const signatures = reader.list8(100, () => ({ validator: reader.address(), signature: reader.signature() }))
  B.requireAscending(signatures.map(({ validator }) => validator))
  return signatures
}

/** Whether signatures of a quorum of members, and of nobody else, are valid. */
export const isFinal = (checkpoint: Checkpoint, by: EpochRecord, signatures: ReadonlyArray<Signature>): boolean => {
  const message = signedCheckpoint(checkpoint)
  const weights = signatures.map(({ validator, signature }) => {
    const member = by.members.find(({ address }) => address === validator)
    return member !== undefined && isValid(member.pub_key, message, signature) ? member.weight : 0
  })
  const signers = new Set(signatures.map(({ validator }) => validator))
  const isHonest = signers.size === signatures.length && !weights.includes(0)
  return (
    isHonest &&
    isQuorum(
      weights.reduce((sum, weight) => sum + weight, 0),
      totalWeight(by),
    )
  )
}

export const seedAfter = (seed: string, closing: string): string => B.H("udg/seed", B.bytes(seed), B.bytes(closing))

type File = Readonly<Record<string, unknown>>

/** In the order of the encoding: default, minimum and maximum. */
const PARAMETERS: ReadonlyArray<readonly [name: string, standard: number | string, least: number, most: number]> = [
  ["min_fee_sats", 1_000, 1, 100_000_000],
  ["name_fee_sats", 100_000, 1, 100_000_000_000],
  ["min_delegation_sats", 100_000_000, 1, 200_000_000_000],
  ["min_stake_to_propose_sats", 200_000_000_000, 1, 100_000_000_000_000],
  ["cooldown_rounds", "an epoch, at least 240", 0, 10_000_000],
  ["voting_period_rounds", "24 epochs", 10, 10_000_000],
  ["execution_delay_rounds", "2 epochs and the cooldown", 0, 10_000_000],
  ["quorum_percent", 34, 1, 100],
  ["approval_percent", 66, 51, 100],
  ["max_active_proposals", 20, 1, 100],
  ["treasury_percent", 10, 0, 50],
  ["council_percent", 10, 0, 30],
  ["slash_percent", 50, 10, 100],
  ["checkpoint_interval_rounds", 100, 10, 10_000],
  ["proposal_bond_sats", 10_000_000_000, 1, 1_000_000_000_000],
  ["max_active_per_proposer", 3, 1, 100],
  ["account_fee_sats", 1_100_000, 0, 100_000_000_000],
]

const PROTOCOL: ReadonlyArray<readonly [name: string, standard: number, least: number, most: number]> = [
  ["round_interval_ms", 100, 1, 60_000],
  ["epoch_rounds", 1_200, 40, 10_000_000],
  ["collection_depth_rounds", 60, 1, 10_000_000],
  ["round_reward", 2_000_000, 0, B.MAX_SUPPLY],
  ["halving_rounds", 525_000_000, 1, 100_000_000_000],
  ["default_commission_percent", 10, 0, 100],
]

export const parameterNames = PARAMETERS.map(([name]) => name)

const atMost = (rounds: number): number => Math.min(rounds, 10_000_000)

/** With defaults that depend on the length of an epoch. */
const withRounds = (given: File, epoch: number): File => {
  const cooldown = Number(given["cooldown_rounds"] ?? Math.max(240, epoch))
  return {
    cooldown_rounds: cooldown,
    voting_period_rounds: atMost(24 * epoch),
    execution_delay_rounds: atMost(2 * epoch + cooldown),
    ...given,
  }
}

const numbers = (table: typeof PARAMETERS, given: File): Readonly<Record<string, number>> =>
  Object.fromEntries(
    table.map(([name, standard, least, most]) => {
      const value = Number(given[name] ?? standard)
      mustHold(Number.isSafeInteger(value) && value >= least && value <= most)
      return [name, value]
    }),
  )

const sorted = <A>(items: ReadonlyArray<A>, by: (item: A) => string): ReadonlyArray<A> => {
  const found = [...items].sort((a, b) => (by(a) < by(b) ? -1 : 1))
  B.requireAscending(found.map(by))
  return found
}

export interface Genesis {
  readonly network_id: string
  readonly mode: Network
  readonly time: number
  readonly allocations: ReadonlyArray<{ readonly address: string; readonly amount: number }>
  readonly validators: ReadonlyArray<{
    readonly pub_key: string
    readonly stake: number
    readonly commission_percent: number
  }>
  readonly council: ReadonlyArray<string>
  readonly names: ReadonlyArray<{ readonly name: string; readonly address: string }>
  readonly treasury: number
  readonly faucet: { readonly address: string; readonly max_request: number } | null
  readonly parameters: Readonly<Record<string, number>>
  readonly protocol: Readonly<Record<string, number>>
}

/** The fields that people write; the others have defaults. */
type Optional = "council" | "names" | "treasury" | "faucet" | "parameters" | "protocol"

export type GenesisFile = Omit<Genesis, Optional | "validators"> &
  Partial<Pick<Genesis, Optional>> & {
    readonly validators: ReadonlyArray<{
      readonly pub_key: string
      readonly stake: number
      readonly commission_percent?: number
    }>
  }

/** The genesis file with its defaults, in the order of the encoding. */
export const genesisOf = (file: GenesisFile): Genesis => {
  const { network_id, mode, time } = file
  mustHold(/^[a-z0-9-]{1,32}$/.test(network_id))
  mustHold(time <= B.LATEST)
  const address = (text: string): string => parseAddress(text, mode)
  const protocol = numbers(PROTOCOL, file.protocol ?? {})
  const parameters = numbers(PARAMETERS, withRounds(file.parameters ?? {}, Number(protocol["epoch_rounds"])))
  mustHold(Number(parameters["cooldown_rounds"]) >= Number(protocol["epoch_rounds"]))
  mustHold(Number(protocol["collection_depth_rounds"]) < Number(protocol["epoch_rounds"]))
  const validators = file.validators.map(({ pub_key, stake, commission_percent }) => ({
    pub_key: pub_key.toLowerCase(),
    stake,
    commission_percent: commission_percent ?? Number(protocol["default_commission_percent"]),
  }))
  mustHold(validators.length >= 1 && validators.every(({ stake }) => stake >= 200_000_000_000))
  const names = (file.names ?? []).map(({ name, address: owner }) => ({ name, address: address(owner) }))
  mustHold(
    names.every(({ name }) => isName(name)) && new Set(names.map(({ address }) => address)).size === names.length,
  )
  const faucet = file.faucet ?? null
  return {
    ...{ network_id, mode, time, parameters, protocol },
    allocations: sorted(
      file.allocations.map(({ address: owner, amount }) => ({ address: address(owner), amount })),
      ({ address }) => address,
    ),
    validators: sorted(validators, ({ pub_key }) => pub_key),
    council: sorted((file.council ?? []).map(address), (member) => member),
    names: sorted(names, ({ name }) => name),
    treasury: file.treasury ?? 0,
    faucet: faucet && { ...faucet, address: address(faucet.address) },
  }
}

export const writeGenesis = (genesis: Genesis): Uint8Array => {
  const { faucet, protocol } = genesis
  const ofProtocol = PROTOCOL.map(([name]) => {
    const value = Number(protocol[name])
    return name === "default_commission_percent" ? B.u8(value) : B.u64(value)
  })
  return B.join(
    ...[B.text8(genesis.network_id), B.u8(genesis.mode === "testnet" ? 0 : 1), B.u64(genesis.time)],
    B.list32(genesis.allocations, ({ address, amount }) => B.join(B.bytes(address), B.u64(amount))),
    B.list8(genesis.validators, ({ pub_key, stake, commission_percent }) =>
      B.join(B.bytes(pub_key), B.u64(stake), B.u8(commission_percent)),
    ),
    B.list8(genesis.council, B.bytes),
    B.list32(genesis.names, ({ name, address }) => B.join(B.text8(name), B.bytes(address))),
    ...[B.u64(genesis.treasury), B.bool(faucet !== null)],
    faucet === null ? B.join() : B.join(B.bytes(faucet.address), B.u64(faucet.max_request)),
    ...PARAMETERS.map(([name]) => B.u64(Number(genesis.parameters[name]))),
    ...ofProtocol,
  )
}

export const genesisHash = (genesis: Genesis): string => B.H("udg/genesis", writeGenesis(genesis))

export const firstEpoch = (genesis: Genesis): EpochRecord => {
  const { parameters, protocol, validators } = genesis
  const hash = genesisHash(genesis)
  return {
    epoch: 1,
    first_round: 1,
    seed: seedAfter(hash, hash),
    rules: {
      epoch_rounds: Number(protocol["epoch_rounds"]),
      protocol_version: 2,
      collection_depth_rounds: Number(protocol["collection_depth_rounds"]),
      checkpoint_interval_rounds: Number(parameters["checkpoint_interval_rounds"]),
      round_reward: Number(protocol["round_reward"]),
      halving_rounds: Number(protocol["halving_rounds"]),
      treasury_percent: Number(parameters["treasury_percent"]),
      council_percent: Number(parameters["council_percent"]),
    },
    members: sorted(
      validators.map(({ pub_key, stake }) => ({ address: addressOf(pub_key), pub_key, weight: stake })),
      ({ address }) => address,
    ),
  }
}

const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((total, amount) => total + amount, 0)

/** The records that the genesis creates. */
export const genesisState = (genesis: Genesis): State.State => {
  const hash = genesisHash(genesis)
  const { allocations, validators, council, names, treasury, time, parameters } = genesis
  const accounts = new Map<string, State.Account>()
  const change = (address: string, fields: Partial<State.Account>): void =>
    void accounts.set(address, { ...(accounts.get(address) ?? State.nothing), ...fields })
  for (const { address, amount } of allocations) change(address, { balance: amount })
  for (const address of council) change(address, { council_seat: true })
  for (const { name, address } of names) change(address, { name })
  for (const { pub_key, stake } of validators) {
    change(addressOf(pub_key), { pub_key, stake: { amount: stake, leaving: null } })
  }
  const [liquid, staked] = [sum(allocations.map(({ amount }) => amount)), sum(validators.map(({ stake }) => stake))]
  const state = new State.State()
  for (const [address, account] of accounts) {
    if (!State.holdsNothing(account)) state.put(1, B.bytes(address), State.writeAccount(account))
  }
  const emptyPool = { amount: 0, shares: "0", generation: 0 }
  for (const { pub_key, commission_percent } of validators) {
    const validator = { commission_percent, commission_epoch: 0, barred: false, working: emptyPool, departing: "0" }
    state.put(2, B.bytes(addressOf(pub_key)), State.writeValidator(validator))
  }
  state.put(5, B.join(), B.join(...parameterNames.map((name) => B.u64(Number(parameters[name])))))
  state.put(6, B.join(), B.join(...[liquid, staked, 0, treasury, liquid + staked + treasury].map(B.u64)))
  state.put(7, B.join(), B.join(B.u64(0), B.bytes(hash), B.u64(0), B.u64(time), B.u64(1)))
  state.put(8, B.big(1), B.join(B.u64(1), new Uint8Array(32), writeEpoch(firstEpoch(genesis))))
  state.put(11, B.big(0), B.join(B.bytes(hash), B.u64(0)))
  return state
}

/** The closing checkpoint of epoch 0. */
export const genesisCheckpoint = (genesis: Genesis): Checkpoint => {
  const [hash, state] = [genesisHash(genesis), genesisState(genesis)]
  const { allocations, validators, treasury } = genesis
  return {
    epoch: 0,
    round: 0,
    commit_index: 0,
    commit_hash: hash,
    effects_digest: State.digestAfter("00".repeat(32), state.asChanges()),
    state_root: state.root(),
    total_supply: sum(allocations.map(({ amount }) => amount)) + sum(validators.map(({ stake }) => stake)) + treasury,
    next_epoch: firstEpoch(genesis),
    previous: hash,
  }
}
