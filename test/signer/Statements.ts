/** Builds the statements of a validator's key, as a node sends them to a signer. */
import { Option } from "effect"
import * as Checkpoint from "../../src/protocol/epoch/Checkpoint.js"
import { type Hash, ZERO } from "../../src/protocol/identity/Hash.js"
import { type PublicKey, SecretKey } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Heartbeat from "../../src/protocol/vertex/Heartbeat.js"

export const keyOf = (n: number): SecretKey => Option.getOrThrow(SecretKey.fromSeed(new Uint8Array(32).fill(n)))

export const hashOf = (n: number): Hash => n.toString(16).padStart(64, "0") as Hash

export const validator = keyOf(1)

interface Wish {
  readonly epoch?: number
  readonly round?: number
  readonly base?: number
  /** Distinguishes statements for the same epoch and round. */
  readonly variant?: number
  readonly key?: SecretKey
  /** The key's, if only its program has it. */
  readonly publicKey?: PublicKey
}

export const vertex = ({
  epoch = 1,
  round = 1,
  base = 1,
  variant = 1,
  key = validator,
  publicKey = key.publicKey,
}: Wish = {}): Uint8Array =>
  Header.signedBytes({
    base: hashOf(base),
    epoch: Natural.epoch(epoch),
    round: Natural.round(round),
    publicKey,
    parents: [],
    timestamp: Natural.timestamp(0),
    coinbase: Sats.ZERO,
    bodyHash: hashOf(variant),
  })

export const checkpoint = ({ epoch = 1, round = 1, variant = 1 }: Wish = {}): Uint8Array =>
  Checkpoint.signedBytes({
    epoch: Natural.epoch(epoch),
    round: Natural.round(round),
    commitIndex: Natural.commitIndex(1),
    commitHash: ZERO,
    effectsDigest: ZERO,
    stateRoot: hashOf(variant),
    totalSupply: Sats.ZERO,
    nextEpoch: null,
    previous: ZERO,
  })

export const heartbeat = ({ key = validator }: Wish = {}): Uint8Array =>
  Heartbeat.signedBytes({ publicKey: key.publicKey, commitIndex: Natural.commitIndex(1), commitHash: ZERO })
