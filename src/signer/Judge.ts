/**
 * Decides, as pure functions, whether a key may make a statement, given its earlier ones. The request can come from two
 * nodes, a restored node or one that lies. A vertex is signed only above every earlier vertex, or again with the same
 * bytes, so a slot never gets two. The highest place suffices, whereas a list could be pruned wrongly.
 */
import type { Hash } from "../protocol/identity/Hash.js"
import type { PublicKey } from "../protocol/identity/Keys.js"
import type { Place, Statement } from "./Statement.js"

/** A signed statement's place and the hash of its bytes. */
export interface Said extends Place {
  readonly digest: Hash
}

export interface Memory {
  /** The highest place at which a vertex was or may have been signed. */
  readonly taken: Place
  /** Null before this signer's first signature. */
  readonly lastVertex: (Said & { readonly base: Hash }) | null
  /** The same for checkpoints outside of the list. */
  readonly checkpointsTaken: Place
  /** The highest ones in order of place. A node signs some of them again when it starts. */
  readonly checkpoints: ReadonlyArray<Said>
  /** It comes from a copy of the signer's directory, and lacks what was signed after the copy was made. */
  readonly isRestored: boolean
}

/** For each key. A node that needs older ones was away for long, and others have signed those. */
export const MAX_CHECKPOINTS = 256

export const isAbove = (a: Place, b: Place): boolean => a.epoch > b.epoch || (a.epoch === b.epoch && a.round > b.round)

const higher = (a: Place, b: Place): Place => (isAbove(b, a) ? b : a)

/** The operator states that the key may have signed anything up to this place, and nothing above it. */
export const vouched = (memory: Memory | null, taken: Place): Memory => {
  if (memory !== null && !memory.isRestored) return { ...memory, taken, lastVertex: null }
  const checkpointsTaken = memory === null ? taken : higher(taken, memory.checkpointsTaken)
  const checkpoints = memory?.checkpoints.filter((said) => isAbove(said, checkpointsTaken)) ?? []
  return { taken, lastVertex: null, checkpointsTaken, checkpoints, isRestored: false }
}

/** The operator's word only raises what the key is known to have signed. A copy's last place can be its last. */
export const mayVouch = (memory: Memory | null, taken: Place): boolean =>
  memory === null || isAbove(taken, memory.taken) || (memory.isRestored && isSamePlace(taken, memory.taken))

/** A node states that the key has signed at this place. */
export const told = (memory: Memory, place: Place): Memory =>
  isAbove(place, memory.taken) ? { ...memory, taken: place, lastVertex: null } : memory

/**
 * The memory of a key beside those of its validator's other keys: a place that one of them has taken is taken for all. In
 * an epoch only one of them has the seat, but the signer need not know which.
 */
export const above = (memory: Memory, others: ReadonlyArray<Memory | null>): Memory => ({
  ...memory,
  taken: others.reduce((highest, other) => (other === null ? highest : higher(highest, other.taken)), memory.taken),
})

export type Change =
  | ({ readonly _tag: "Vertex"; readonly base: Hash } & Said)
  | ({ readonly _tag: "Checkpoint" } & Said)

export type Refusal =
  | "it is not a statement of a validator"
  | "it names another key"
  | "it is for another network"
  | "it proves the key for a node other than the one that asks"
  | "the signer does not know what this key has signed: state a round with udg signer sign-from"
  | "the signer's directory is a copy, which lacks what was signed later: state a round with udg signer sign-from"
  | "the key has signed this round or a later one"
  | "the epoch has another base"

export type Verdict =
  /** Nothing needs to be recorded. */
  | { readonly _tag: "Sign" }
  /** The change must be on disk before the signature leaves. */
  | { readonly _tag: "Remember"; readonly change: Change }
  | { readonly _tag: "Refuse"; readonly refusal: Refusal }

export interface Asked {
  /** Null if nothing is known about the key's signatures. */
  readonly memory: Memory | null
  readonly publicKey: PublicKey
  readonly genesisHash: Hash
  /** The requesting node's proven key, as a greeting names it. */
  readonly node: string
  readonly statement: Statement | null
  /** The hash of the statement's bytes. */
  readonly digest: Hash
}

const SIGN: Verdict = { _tag: "Sign" }
const refuse = (refusal: Refusal): Verdict => ({ _tag: "Refuse", refusal })

const isSamePlace = (a: Place, b: Place): boolean => a.epoch === b.epoch && a.round === b.round

const ofVertex = (
  { taken, lastVertex }: Memory,
  { epoch, round, base }: Extract<Statement, { _tag: "Vertex" }>,
  digest: Hash,
): Verdict => {
  if (lastVertex?.digest === digest) return SIGN
  const place = { epoch, round }
  if (!isAbove(place, taken)) return refuse("the key has signed this round or a later one")
  if (lastVertex?.epoch === epoch && lastVertex.base !== base) return refuse("the epoch has another base")
  return { _tag: "Remember", change: { _tag: "Vertex", ...place, base, digest } }
}

const ofCheckpoint = ({ checkpointsTaken, checkpoints }: Memory, place: Place, digest: Hash): Verdict => {
  const before = checkpoints.find((said) => isSamePlace(said, place))
  if (before?.digest === digest) return SIGN
  if (before !== undefined || !isAbove(place, checkpointsTaken))
    return refuse("the key has signed this round or a later one")
  const { epoch, round } = place
  return { _tag: "Remember", change: { _tag: "Checkpoint", epoch, round, digest } }
}

export const judge = ({ memory, publicKey, genesisHash, node, statement, digest }: Asked): Verdict => {
  if (statement === null) return refuse("it is not a statement of a validator")
  if ("publicKey" in statement && statement.publicKey !== publicKey) return refuse("it names another key")
  switch (statement._tag) {
    case "Heartbeat":
      return SIGN
    case "Greeting":
      if (statement.genesisHash !== genesisHash) return refuse("it is for another network")
      return statement.prover === node ? SIGN : refuse("it proves the key for a node other than the one that asks")
    default:
      if (memory === null) {
        return refuse("the signer does not know what this key has signed: state a round with udg signer sign-from")
      }
      if (memory.isRestored) {
        return refuse(
          "the signer's directory is a copy, which lacks what was signed later: state a round with udg signer sign-from",
        )
      }
      return statement._tag === "Vertex" ? ofVertex(memory, statement, digest) : ofCheckpoint(memory, statement, digest)
  }
}

/** The memory after the change. */
export const remember = (memory: Memory, { _tag, ...said }: Change): Memory => {
  if ("base" in said) {
    const { epoch, round } = said
    return { ...memory, taken: { epoch, round }, lastVertex: said }
  }
  const all = [...memory.checkpoints, said].sort((a, b) => (isAbove(a, b) ? 1 : -1))
  const [dropped] = all.length > MAX_CHECKPOINTS ? all : []
  if (dropped === undefined) return { ...memory, checkpoints: all }
  const { epoch, round } = dropped
  return { ...memory, checkpoints: all.slice(1), checkpointsTaken: { epoch, round } }
}
