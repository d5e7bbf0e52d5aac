/** Transactions of every type from every kind of account, with amounts, fees and numbers at all edges. */

import type { Address } from "../../src/protocol/identity/Address.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Replica } from "../../src/replica/Replica.js"
import type { Chance } from "../simulation/Chance.js"
import type { Signer } from "../simulation/Scheme.js"
import type { Person } from "../simulation/World.js"
import { accomplices, type Cast } from "./Cast.js"
import type { Edges } from "./Edges.js"

const MEMO_EDGES = [0, 1, Limits.MEMO_BYTES - 1, Limits.MEMO_BYTES]

export class Purse {
  readonly #chance: Chance
  readonly #edges: Edges
  readonly #networkId: NetworkId
  readonly #replica: () => Replica | null
  readonly #own: ReadonlyArray<Person>
  readonly #moneyed: ReadonlyArray<Person>
  readonly #validators: ReadonlyArray<Address>
  readonly #everybody: ReadonlyArray<Address>
  /** What was used up since the ledger was last seen: nonces of what is on its way. */
  readonly #used = new Map<Address, number>()

  constructor(chance: Chance, edges: Edges, cast: Cast, replica: () => Replica | null) {
    this.#chance = chance
    this.#edges = edges
    this.#networkId = cast.genesis.networkId
    this.#replica = replica
    this.#own = accomplices(cast)
    this.#moneyed = [cast.member, cast.newcomer, ...cast.rich]
    this.#validators = [...cast.honest, cast.member, ...cast.crowd.slice(0, 3), cast.newcomer].map(
      (each) => each.address,
    )
    this.#everybody = [
      ...this.#validators,
      ...this.#own.map((each) => each.address),
      ...cast.victims.map((each) => each.address),
    ]
  }

  /** Well-formed, as far as who wrote it could tell. */
  next(): Transaction.Transaction {
    const chance = this.#chance
    if (chance.percent(40)) return this.#sensible()
    const from = chance.pick(this.#own)
    const nonce = this.#nonce(from.address)
    const fee = this.#fee()
    const operation = this.#operation(from.address)
    return this.sign({ from: from.address, nonce: Natural.nonce(nonce), fee, operation }, this.#signers(from))
  }

  /** What the ledger would take: of somebody with money, in order, at the right fee. The edges lie behind it. */
  #sensible(): Transaction.Transaction {
    const chance = this.#chance
    const from = chance.pick(this.#moneyed)
    const read = this.#replica()?.read
    const account = read?.account(from.address)
    const { minFee = 1_000, nameFee = 100_000 } = read?.parameters ?? {}
    const operation = this.#sensibleOperation(from, account?.balance ?? 0)
    const isFree = ["StakeTx", "UnstakeTx", "DelegateTx", "UndelegateTx", "SetCommissionTx"].includes(operation._tag)
    const fee = Sats.make(isFree ? 0 : operation._tag === "RegisterNameTx" ? nameFee : minFee)
    const next = account?.nonce ?? 0
    const used = Math.max(next, this.#used.get(from.address) ?? 0)
    const nonce = chance.percent(30) || used > next + 8 ? next : used
    this.#used.set(from.address, nonce + 1)
    return this.sign({ from: from.address, nonce: Natural.nonce(nonce), fee, operation }, [from.signer])
  }

  #sensibleOperation(from: Person, balance: number): Operation.Operation {
    const chance = this.#chance
    const some = Sats.make(chance.between(Math.min(balance, Sats.SATS_PER_COIN), Math.max(1, balance)))
    switch (chance.below(9)) {
      case 0:
        return {
          _tag: "Transfer",
          to: chance.pick(this.#own).address,
          amount: Sats.make(1 + chance.below(1_000_000)),
          memo: "",
        }
      case 1:
        return { _tag: "StakeTx", amount: Sats.max(some, Sats.MIN_STAKE_SATS) }
      case 2:
        return chance.percent(30) ? { _tag: "UnstakeTx" } : { _tag: "UndelegateTx" }
      case 3:
        return { _tag: "DelegateTx", validator: chance.pick(this.#validators), amount: some }
      case 4:
        return { _tag: "SetCommissionTx", commissionPercent: chance.below(101) }
      case 5:
        return { _tag: "CreateProposalTx", title: "A thought", description: "", payload: this.#payload() }
      case 6:
        return { _tag: "VoteTx", proposalId: Natural.proposalId(this.#newestProposal), vote: chance.percent(50) }
      case 7:
        return { _tag: "RegisterNameTx", name: this.#name() }
      default:
        return chance.percent(80)
          ? { _tag: "DelegateTx", validator: from.address, amount: some }
          : { _tag: "SetAccountPolicyTx", threshold: 1, keys: [from.signer.publicKey] }
    }
  }

  /** Somebody's bytes under signatures that hold, and are not theirs. */
  usurped({ from, nonce, fee, operation }: Transaction.Transaction): Transaction.Transaction {
    const signers = Array.from(
      { length: this.#chance.percent(80) ? 1 : this.#chance.between(2, 4) },
      () => this.#chance.pick(this.#own).signer,
    )
    return this.sign({ from, nonce, fee, operation }, signers)
  }

  sign(unsigned: Transaction.Unsigned, signers: ReadonlyArray<Signer>): Transaction.Transaction {
    const bytes = Transaction.signedBytes(this.#networkId, unsigned)
    const distinct = [...new Map(signers.map((signer) => [signer.publicKey, signer])).values()]
    const proofs = distinct.map(({ publicKey, sign }) => ({ publicKey, signature: sign(bytes) }))
    const [first] = proofs
    if (first === undefined) throw new RangeError("nobody signs")
    const isSingle = proofs.length === 1 && this.#chance.percent(80)
    return Transaction.make(
      this.#networkId,
      unsigned,
      isSingle ? { _tag: "SingleKey", ...first } : { _tag: "Policy", signatures: proofs },
    )
  }

  #signers(from: Person): ReadonlyArray<Signer> {
    const chance = this.#chance
    if (chance.percent(85)) return [from.signer]
    const count = chance.percent(20) ? Limits.POLICY_KEYS : chance.between(1, 3)
    return Array.from({ length: count }, () => chance.pick(this.#own).signer)
  }

  #nonce(address: Address): number {
    const replica = this.#replica()
    const next = replica?.read.account(address).nonce ?? 0
    if (this.#chance.percent(25)) return this.#edges.number(next)
    const used = Math.max(next, this.#used.get(address) ?? 0)
    // What never came in is tried again.
    const nonce = this.#chance.percent(30) || used > next + 8 ? next : used
    this.#used.set(address, nonce + 1)
    return nonce
  }

  #fee(): Sats.Sats {
    const chance = this.#chance
    const { minFee = 1_000, nameFee = 100_000 } = this.#replica()?.read.parameters ?? {}
    if (chance.percent(40)) return Sats.ZERO
    return chance.percent(60) ? Sats.make(minFee + chance.below(1_000)) : this.#edges.sats(minFee, nameFee)
  }

  #amount(from: Address): Sats.Sats {
    const chance = this.#chance
    const balance = this.#replica()?.read.account(from).balance ?? 0
    if (chance.percent(30)) return Sats.make(chance.between(1, Math.max(1, Math.min(balance, 10 * Sats.SATS_PER_COIN))))
    return this.#edges.sats(balance, Sats.MIN_STAKE_SATS, Sats.SATS_PER_COIN)
  }

  #operation(from: Address): Operation.Operation {
    const chance = this.#chance
    const anybody = () =>
      chance.percent(95) ? chance.pick(this.#everybody) : (this.#edges.hash().slice(0, 40) as Address)
    switch (chance.below(10)) {
      case 0:
        return { _tag: "Transfer", to: anybody(), amount: this.#amount(from), memo: this.#text(MEMO_EDGES) }
      case 1:
        return { _tag: "StakeTx", amount: this.#amount(from) }
      case 2:
        return { _tag: "UnstakeTx" }
      case 3:
        return {
          _tag: "DelegateTx",
          validator: chance.percent(90) ? chance.pick(this.#validators) : anybody(),
          amount: this.#amount(from),
        }
      case 4:
        return { _tag: "UndelegateTx" }
      case 5:
        return { _tag: "SetCommissionTx", commissionPercent: chance.pick([0, 1, 99, 100]) }
      case 6:
        return {
          _tag: "CreateProposalTx",
          title: this.#text([1, Limits.TITLE_BYTES - 1, Limits.TITLE_BYTES]),
          description: this.#text([0, 1, Limits.DESCRIPTION_BYTES]),
          payload: this.#payload(),
        }
      case 7:
        return {
          _tag: "VoteTx",
          proposalId: Natural.proposalId(this.#edges.number(this.#newestProposal)),
          vote: chance.percent(50),
        }
      case 8:
        return { _tag: "RegisterNameTx", name: this.#name() }
      default:
        return this.#policy()
    }
  }

  get #newestProposal(): number {
    return this.#replica()?.read.proposals(1)[0]?.id ?? 1
  }

  #text(lengths: ReadonlyArray<number>): string {
    return "x".repeat(this.#chance.pick(lengths))
  }

  #name(): Name {
    const chance = this.#chance
    return (chance.percent(50) ? `n-${chance.below(500)}` : "a".repeat(chance.pick([3, 31, 32]))) as Name
  }

  #policy(): Operation.Operation {
    const chance = this.#chance
    const count = chance.pick([1, 2, Limits.POLICY_KEYS])
    const keys = [...new Set(Array.from({ length: count }, () => chance.pick(this.#own).signer.publicKey))]
    return { _tag: "SetAccountPolicyTx", threshold: chance.pick([1, keys.length]), keys }
  }

  #payload(): ProposalPayload {
    const chance = this.#chance
    switch (chance.below(4)) {
      case 0:
        return { _tag: "Text" }
      case 1:
        return {
          _tag: "TreasurySpend",
          recipient: chance.pick(this.#everybody),
          amount: this.#edges.sats(1_000 * Sats.SATS_PER_COIN),
        }
      case 2:
        return {
          _tag: "CouncilMembership",
          action: chance.percent(50) ? "add" : "remove",
          address: chance.pick(this.#everybody),
        }
      default: {
        const entry = chance.pick(Parameters.table)
        const param = chance.percent(90) ? entry.name : "x".repeat(Limits.PARAMETER_NAME_BYTES)
        return { _tag: "ParameterChange", param, value: this.#edges.number(entry.min, entry.max) }
      }
    }
  }
}
