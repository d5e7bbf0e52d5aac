/**
 * A signer beside a validator's machines. It judges statements as the program does, remembers them through every fault
 * of the machines, answers late, and is away at times.
 */
import { sha256Hex } from "#crypto"
import type { Hash } from "../../src/protocol/identity/Hash.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Output } from "../../src/replica/output/Output.js"
import * as Judge from "../../src/signer/Judge.js"
import * as Statement from "../../src/signer/Statement.js"
import type { Agenda } from "./Agenda.js"
import type { Chance } from "./Chance.js"
import type { Signer } from "./Scheme.js"

const LONGEST_ANSWER_MS = 20
const AWAY_PERCENT = 1
const LONGEST_AWAY_MS = 3_000

/** The operator's word at the founding: no key has signed anything. */
const NOTHING_SIGNED = Judge.vouched(null, { epoch: Natural.epoch(0), round: Natural.round(0) })

export interface Surroundings {
  readonly agenda: Agenda
  readonly chance: Chance
  /** The validator's keys. Each announcement adds one. */
  readonly keys: ReadonlyArray<Signer>
  readonly genesisHash: Hash
  readonly isStormy: () => boolean
}

export class RemoteSigner {
  readonly #around: Surroundings
  readonly #memories = new Map<PublicKey, Judge.Memory>()
  #backAt = 0

  constructor(around: Surroundings) {
    this.#around = around
  }

  /** The answer is null if the signer refuses. */
  ask(
    publicKey: PublicKey,
    { bytes, signedAt }: Extract<Output, { readonly _tag: "Sign" }>,
    answered: (signature: Signature | null) => void,
  ): void {
    const { agenda, chance, isStormy } = this.#around
    const from = Math.max(agenda.now, this.#backAt)
    if (isStormy() && chance.percent(AWAY_PERCENT)) this.#backAt = from + chance.between(0, LONGEST_AWAY_MS)
    agenda.at(Math.max(from, this.#backAt) + chance.between(1, LONGEST_ANSWER_MS), () => {
      if (signedAt !== null) this.#memories.set(publicKey, Judge.told(this.#memoryOf(publicKey), signedAt))
      answered(this.#signed(publicKey, bytes))
    })
  }

  #memoryOf(publicKey: PublicKey): Judge.Memory {
    return this.#memories.get(publicKey) ?? NOTHING_SIGNED
  }

  #signed(publicKey: PublicKey, bytes: Uint8Array): Signature | null {
    const { keys, genesisHash } = this.#around
    const signer = keys.find((key) => key.publicKey === publicKey)
    if (signer === undefined) return null
    const memory = this.#memoryOf(publicKey)
    const others = keys.map((key) => this.#memories.get(key.publicKey) ?? null)
    const verdict = Judge.judge({
      ...{ memory: Judge.above(memory, others), publicKey, genesisHash, node: "" },
      ...{ statement: Statement.read(bytes), digest: sha256Hex(bytes) as Hash },
    })
    if (verdict._tag === "Refuse") return null
    if (verdict._tag === "Remember") this.#memories.set(publicKey, Judge.remember(memory, verdict.change))
    return signer.sign(bytes)
  }
}
