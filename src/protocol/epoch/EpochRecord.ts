/**
 * The values fixed for an epoch: the committee members with their weights, and every number that vertex validity or
 * rewards depend on. Frozen when the epoch begins; the previous epoch's closing checkpoint carries the record.
 */
import * as Binary from "../encoding/Binary.js"
import * as Address from "../identity/Address.js"
import * as Hash from "../identity/Hash.js"
import * as Keys from "../identity/Keys.js"
import * as Limits from "../numbers/Limits.js"
import * as Natural from "../numbers/Natural.js"
import * as Sats from "../numbers/Sats.js"
import * as ProtocolVersion from "./ProtocolVersion.js"

export interface Member {
  readonly address: Address.Address
  readonly publicKey: Keys.PublicKey
  readonly weight: Sats.Sats
}

export interface Rules {
  readonly epochRounds: number
  readonly protocolVersion: ProtocolVersion.ProtocolVersion
  readonly collectionDepthRounds: number
  readonly checkpointIntervalRounds: number
  /** Minted per round before the first halving, over the whole committee. */
  readonly roundReward: Sats.Sats
  readonly halvingRounds: number
  readonly treasuryPercent: number
  readonly councilPercent: number
}

export interface EpochRecord {
  readonly epoch: Natural.Epoch
  readonly firstRound: Natural.Round
  /** The seed from which the leader schedule is drawn. */
  readonly seed: Hash.Hash
  readonly rules: Rules
  /** In the order of their addresses; never empty. */
  readonly members: ReadonlyArray<Member>
}

/** The nominal last round, known when the epoch begins. The epoch closes at the first commit at or past it. */
export const lastRound = (record: EpochRecord): Natural.Round =>
  Natural.round(record.firstRound + record.rules.epochRounds - 1)

/** The number of checkpoint intervals, counted from the first round, that have passed at this round. */
const intervalsUntil = ({ firstRound, rules }: EpochRecord, round: Natural.Round): number =>
  round < firstRound ? 0 : Sats.divideFloor(round - firstRound, rules.checkpointIntervalRounds)

/** Whether a commit of this leader round ends with a checkpoint, given the leader round of the previous commit. */
export const isCheckpointDue = (record: EpochRecord, previous: Natural.Round, round: Natural.Round): boolean =>
  round >= lastRound(record) || intervalsUntil(record, round) > intervalsUntil(record, previous)

export const totalWeight = (record: EpochRecord): Sats.Sats =>
  Sats.sumBounded(record.members.map(({ weight }) => weight))

export const memberOf = (record: EpochRecord, address: Address.Address): Member | undefined =>
  record.members.find((member) => member.address === address)

/** More than two thirds. Exact, because three times the maximum supply is still below 2^53. */
export const isQuorum = (weight: number, total: Sats.Sats): boolean => weight * 3 > total * 2

/** The amount that one round mints before it is shared by weight: halved every `halvingRounds`, rounded down. */
export const roundReward = ({ roundReward, halvingRounds }: Rules, round: Natural.Round): Sats.Sats => {
  if (round < 1) return Sats.ZERO
  const halvings = Sats.divideFloor(round - 1, halvingRounds)
  // 2^52 is above the largest reward a genesis can set, and `**` is exact for powers of two.
  return halvings > 52 ? Sats.ZERO : Sats.make(Sats.divideFloor(roundReward, 2 ** halvings))
}

/** The coinbase that a vertex of this round and weight must claim. */
export const coinbase = (rules: Rules, round: Natural.Round, weight: Sats.Sats, totalWeight: Sats.Sats): Sats.Sats =>
  Sats.partBounded(roundReward(rules, round), weight, totalWeight)

export const write = (writer: Binary.Writer, record: EpochRecord): void => {
  const { rules } = record
  writer
    .u64(record.epoch)
    .u64(record.firstRound)
    .hex(record.seed)
    .u32(rules.epochRounds)
    .u32(rules.protocolVersion - ProtocolVersion.FIRST)
    .u64(rules.collectionDepthRounds)
    .u64(rules.checkpointIntervalRounds)
    .u64(rules.roundReward)
    .u64(rules.halvingRounds)
    .u8(rules.treasuryPercent)
    .u8(rules.councilPercent)
    .list8(record.members, ({ publicKey, weight }) => writer.hex(publicKey).u64(weight))
}

const MAX_U32 = 2 ** 32 - 1

/** Whether the encoding has room for these rules, whoever wrote them as JSON. */
export const areEncodable = ({ epochRounds, protocolVersion }: Rules): boolean =>
  epochRounds <= MAX_U32 &&
  protocolVersion >= ProtocolVersion.FIRST &&
  protocolVersion - ProtocolVersion.FIRST <= MAX_U32

/** The rule that a record breaks; null for a valid one. */
const violationOf = ({ firstRound, rules, members }: EpochRecord): string | null => {
  const weights = members.reduce((total, { weight }) => total + weight, 0)
  if (rules.epochRounds === 0 || rules.halvingRounds === 0) return "a period of 0 rounds"
  if (rules.checkpointIntervalRounds === 0) return "a checkpoint interval of 0 rounds"
  if (rules.treasuryPercent + rules.councilPercent > 100) return "reward shares above 100 percent"
  if (members.some(({ weight }) => weight === 0)) return "a member of weight 0"
  if (members.length === 0) return "a committee without members"
  if (!Binary.isStrictlyAscending(members, ({ address }) => address))
    return "members not in the order of their addresses"
  if (weights > Sats.MAX_SUPPLY) return "weights above the maximum supply"
  if (firstRound === 0) return "a first round of 0, which has no round before it"
  return Number.isSafeInteger(firstRound + rules.epochRounds) ? null : "rounds above 2^53 - 1"
}

/** Checks a record that this node made: every other node must be able to read what this node signs. */
export const made = (record: EpochRecord): EpochRecord => {
  const violation = violationOf(record)
  if (violation !== null) throw new Error(`epoch ${record.epoch} would begin with ${violation}`)
  return record
}

const readRules = (reader: Binary.Reader): Rules => {
  return {
    epochRounds: reader.u32(),
    protocolVersion: ProtocolVersion.FIRST + reader.u32(),
    collectionDepthRounds: reader.u64(),
    checkpointIntervalRounds: reader.u64(),
    roundReward: reader.sats(),
    halvingRounds: reader.u64(),
    treasuryPercent: reader.u8(),
    councilPercent: reader.u8(),
  }
}

const readMember = (reader: Binary.Reader): Member => {
  const publicKey = Keys.readPublicKey(reader)
  const weight = reader.sats()
  return { address: Address.fromPublicKey(publicKey), publicKey, weight }
}

export const read = (reader: Binary.Reader): EpochRecord => {
  const epoch = Natural.epoch(reader.u64())
  const firstRound = Natural.round(reader.u64())
  const seed = Hash.read(reader)
  const rules = readRules(reader)
  const members = reader.list8(Limits.COMMITTEE_MEMBERS, () => readMember(reader))
  const record = { epoch, firstRound, seed, rules, members }
  const violation = violationOf(record)
  if (violation !== null) reader.fail(violation)
  return record
}

export const { encode, decode } = Binary.codec("epoch record", write, read)
