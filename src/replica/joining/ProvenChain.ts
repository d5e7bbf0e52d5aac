/**
 * One peer's closing checkpoints, as far as they follow from a committee this node trusts. A checkpoint is proven if
 * its signers hold more than two thirds of the newest trusted committee's weight; it then names a newer committee to
 * trust. Checkpoints that the newest committee did not sign are reached in smaller steps, at worst epoch by epoch.
 */
import type * as Checkpoint from "../../protocol/epoch/Checkpoint.js"
import type * as EpochRecord from "../../protocol/epoch/EpochRecord.js"
import * as Signers from "../../protocol/epoch/Signers.js"
import type { Hash } from "../../protocol/identity/Hash.js"
import type { Epoch } from "../../protocol/numbers/Natural.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import { divideFloor } from "../../protocol/numbers/Sats.js"
import type { Check } from "../../protocol/transaction/Verification.js"

type Signed = Checkpoint.SignedCheckpoint
type SignedClosing = Checkpoint.SignedClosing

export interface Pin {
  readonly epoch: number
  readonly hash: Hash
}

export interface Trust {
  /** The committee of an epoch that this node knows first-hand. */
  readonly record: EpochRecord.EpochRecord
  /** The closing checkpoint that every chain must pass through. */
  readonly pin: Pin | null
  readonly isValid: (check: Check) => boolean
}

const closes = (signed: Signed): signed is SignedClosing =>
  signed.checkpoint.nextEpoch?.epoch === signed.checkpoint.epoch + 1

/**
 * A peer whose checkpoints carry more invalid signatures than this can prove nothing more. An honest peer may pass on a
 * few: it could check only signers from its own trusted committee.
 */
const MAX_FALSE = 64

export class ProvenChain {
  readonly newest: Signed
  readonly #trust: Trust
  #falseSignatures = 0
  /** The rest of the last answer, newest first. */
  #answer: ReadonlyArray<SignedClosing> | null = null
  /** Whether the answer included the first epoch in which a step is possible. */
  #showedAsked = false
  /** The committee from which the next step starts; at first the one trusted from the outset. */
  #trusted: EpochRecord.EpochRecord
  #trustedBefore: EpochRecord.EpochRecord
  #isPinned: boolean
  /** Proven by signatures. */
  readonly #proven = new Map<Epoch, SignedClosing>()
  /** Proven by signatures, or named as predecessor by a proven checkpoint. */
  readonly #hashes = new Map<Epoch, SignedClosing>()
  #asked: Epoch | null = null
  #isBroken = false
  /** Every step was asked for, down to the next epoch. */
  #isExhausted = false

  constructor(trust: Trust, newest: Signed) {
    this.#trust = trust
    this.#trusted = trust.record
    this.#trustedBefore = trust.record
    this.newest = newest
    this.#isPinned = trust.pin === null || trust.pin.epoch < trust.record.epoch
  }

  /** Proven by signatures, oldest first: each by the committee that its predecessor names. */
  get proven(): ReadonlyArray<Signed> {
    return [...this.#proven.values()]
  }

  get provenNewest(): SignedClosing | undefined {
    const { epoch, hash } = this.newest.checkpoint
    const found = this.#hashes.get(epoch)
    return found?.checkpoint.hash === hash ? found : undefined
  }

  get isProven(): boolean {
    return this.provenNewest !== undefined
  }

  /** Whether the peer made a claim that it cannot prove. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  at(epoch: Epoch): Signed | undefined {
    return this.#hashes.get(epoch)
  }

  /** The lowest epoch in which two proven chains differ. */
  conflictWith(other: ProvenChain): readonly [Signed, Signed] | undefined {
    for (const [epoch, own] of [...this.#hashes].sort(([a], [b]) => a - b)) {
      const its = other.#hashes.get(epoch)
      if (its !== undefined && own.checkpoint.hash !== its.checkpoint.hash) return [own, its]
    }
    return undefined
  }

  /** Takes an answer, to be processed in steps. */
  take(signed: ReadonlyArray<Signed>): void {
    this.#showedAsked = signed.some(({ checkpoint }) => checkpoint.epoch === this.#asked)
    this.#answer = [...signed, this.newest].filter(closes).sort((a, b) => b.checkpoint.epoch - a.checkpoint.epoch)
    this.#trustedBefore = this.#trusted
  }

  /** Takes checkpoints from disk and processes them without pausing. */
  takeAtOnce(signed: ReadonlyArray<Signed>): void {
    this.take(signed)
    while (this.hasWork) this.step()
  }

  get hasWork(): boolean {
    return this.#answer !== null
  }

  /**
   * Proves one more checkpoint, or finds that the answer proves no more. Verifies at most one committee's signatures.
   */
  step(): void {
    const all = this.#answer
    if (all === null) return
    const next = this.isProven ? undefined : this.#nextIn(all)
    if (next !== undefined) {
      this.#prove(next)
      return
    }
    this.#answer = null
    this.#link(all)
    const isStuck = this.#trusted === this.#trustedBefore && !this.isProven
    if (this.#falseSignatures > MAX_FALSE) this.#isBroken = true
    if (!isStuck || this.#asked !== this.#lowest) return
    // Either it showed the checkpoint our committee must have signed, without that signature, or it does not have it.
    this.#isBroken ||= this.#showedAsked
    this.#isExhausted = true
  }

  #isValid(check: Check): boolean {
    if (this.#falseSignatures > MAX_FALSE) return false
    const holds = this.#trust.isValid(check)
    if (!holds) this.#falseSignatures++
    return holds
  }

  #nextIn(all: ReadonlyArray<SignedClosing>): SignedClosing | undefined {
    const { pin } = this.#trust
    if (!this.#isPinned && pin !== null) {
      return all.find(({ checkpoint }) => checkpoint.epoch === pin.epoch && checkpoint.hash === pin.hash)
    }
    return all.find(
      (each) =>
        each.checkpoint.epoch >= this.#trusted.epoch &&
        Signers.quorumOf(this.#trusted, each, (check) => this.#isValid(check)) !== undefined,
    )
  }

  #prove(signed: SignedClosing): void {
    const { checkpoint } = signed
    this.#isPinned = true
    this.#proven.set(checkpoint.epoch, signed)
    this.#hashes.set(checkpoint.epoch, signed)
    this.#trusted = checkpoint.nextEpoch
  }

  /** Works from high epochs to low: a checkpoint named by a proven one is proven too. */
  #link(all: ReadonlyArray<SignedClosing>): void {
    for (const signed of all) {
      const { epoch, hash } = signed.checkpoint
      const child = this.#hashes.get(Natural.epoch(epoch + 1))
      if (child?.checkpoint.previous === hash && !this.#hashes.has(epoch)) this.#hashes.set(epoch, signed)
    }
  }

  /** The first epoch in which the next step is possible. */
  get #lowest(): Epoch {
    return Natural.epoch(this.#isPinned ? this.#trusted.epoch : (this.#trust.pin?.epoch ?? 0))
  }

  /** The epoch from which to ask for checkpoints; null if asking gains nothing. */
  toAsk(): Epoch | null {
    if (this.hasWork || this.isProven || this.#isBroken || this.#isExhausted) return null
    const lowest = this.#lowest
    const highest = this.newest.checkpoint.epoch
    if (lowest > highest) return null
    const upTo = this.#asked !== null && this.#asked > lowest ? this.#asked : highest
    this.#asked = this.#isPinned ? Natural.epoch(lowest + divideFloor(upTo - lowest, 2)) : lowest
    return this.#asked
  }
}
