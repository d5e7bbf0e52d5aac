/**
 * Transactions of every type, from accounts of every kind to targets of every kind, with edge values. Most senders suit
 * the type; others are arbitrary, even without coins. Decoders reject some of them. The caller signs them.
 */
import type { Reads } from "../../src/ledger/Reads.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { PublicKey, Signature } from "../../src/protocol/identity/Keys.js"
import type { Name } from "../../src/protocol/identity/Name.js"
import * as NameOf from "../../src/protocol/identity/Name.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import type * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import * as Charges from "../../src/protocol/transaction/Charges.js"
import * as Operation from "../../src/protocol/transaction/Operation.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import type { Unsigned } from "../../src/protocol/transaction/Transaction.js"
import type { Accounts, Holder } from "./Accounts.js"
import type { Draws } from "./Draws.js"
import * as Numbers from "./Numbers.js"

export const TYPES = Object.keys(Operation.TYPE_BYTE) as ReadonlyArray<Operation.Type>

/** A transaction and its signers. */
export interface Request<P> {
  readonly unsigned: Unsigned
  /** Distinct, at least one. */
  readonly signers: ReadonlyArray<P>
  /** Whether they sign as keys of a policy; otherwise there is one. */
  readonly isPolicy: boolean
}

export interface Setting<P> {
  readonly keyOf: (person: P) => PublicKey
  /** The next nonce of an account, after transactions that are under way. */
  readonly nextNonce: (address: Address) => number
  /** The parameters that proposals can change. */
  readonly parameters: ReadonlyArray<Parameters.Entry>
  readonly epochRounds: number
}

/** A number that the decoder of its field may reject. */
const unchecked = <A extends number>(value: number): A => value as A

const isSlow = ({ name }: Parameters.Entry): boolean => name.endsWith("_rounds") || name === "quorum_percent"

export class Transactions<P extends Holder> {
  readonly #draws: Draws
  readonly #senders: Accounts<P>
  readonly #targets: Accounts<P>
  readonly #setting: Setting<P>

  constructor(draws: Draws, senders: Accounts<P>, targets: Accounts<P>, setting: Setting<P>) {
    this.#draws = draws
    this.#senders = senders
    this.#targets = targets
    this.#setting = setting
  }

  get #read(): Reads {
    return this.#senders.read
  }

  next(): Request<P> {
    const type = this.#type()
    const from = this.#sender(type)
    const operation = this.#operation(type, from)
    const unsigned = {
      from: from.address,
      nonce: unchecked<Natural.Nonce>(this.#nonce(from)),
      fee: unchecked<Sats.Sats>(this.#fee(from, operation)),
      operation,
    }
    return { unsigned, ...this.#signers(from) }
  }

  /** An account that unstakes is out for long: at equal frequency, soon nobody would be left. */
  #type(): Operation.Type {
    const type = this.#draws.pick(TYPES)
    return type === "UnstakeTx" && this.#draws.percent(60) ? this.#draws.pick(TYPES) : type
  }

  /** One of these or, equally likely, a neighbour, 0, 1 or the largest number. */
  #near(...limits: ReadonlyArray<number>): number {
    return this.#draws.pick(this.#draws.percent(50) ? limits : Numbers.around(...limits))
  }

  #sats(...limits: ReadonlyArray<number>): Sats.Sats {
    return unchecked(this.#near(...limits))
  }

  #suits(type: Operation.Type, { address }: P): boolean {
    const read = this.#read
    const { stake, delegation, balance } = read.account(address)
    switch (type) {
      case "Transfer":
      case "RegisterNameTx":
      case "SetAccountPolicyTx":
        return balance > 200_000
      case "StakeTx":
        return delegation === null && balance > Sats.MIN_STAKE_SATS
      case "DelegateTx":
        return stake === null && balance > 1
      case "UnstakeTx":
        // The shares of long-lived pools become expensive.
        return stake?.leaving === null && this.#draws.percent(40)
      case "SetCommissionTx":
      case "CreateProposalTx":
      case "RotateKeyTx":
        return stake?.leaving === null
      case "UndelegateTx":
        return delegation !== null
      case "VoteTx":
        return read.ballot(unchecked(read.head.nextProposalId - 1), address)?.vote === null
    }
  }

  #sender(type: Operation.Type): P {
    const { people } = this.#senders
    const suited = this.#draws.percent(75) ? people.filter((someone) => this.#suits(type, someone)) : []
    // The first account must stay in the network.
    const [first] = people
    const from = suited.length > 0 ? this.#draws.pick(suited) : this.#senders.any(this.#draws)
    return type === "UnstakeTx" && from === first ? this.#senders.any(this.#draws) : from
  }

  /** Payments to oneself are rarer than others. */
  #target(from: P): Address {
    return this.#draws.percent(5) ? from.address : this.#targets.any(this.#draws).address
  }

  #amount(from: P): Sats.Sats {
    const { parameters, totals } = this.#read
    const { balance } = this.#read.account(from.address)
    if (this.#draws.percent(50)) {
      const most = this.#draws.pick([9, Sats.divideFloor(balance, 2), 1e9])
      return unchecked(1 + this.#draws.below(Math.max(1, most)))
    }
    const { minDelegation, minFee } = parameters
    return this.#sats(
      balance,
      Math.max(1, balance - minFee),
      minDelegation,
      Sats.MIN_STAKE_SATS,
      Sats.MAX_SUPPLY,
      Sats.MAX_SUPPLY - totals.total,
    )
  }

  #fee(from: P, operation: Operation.Operation): number {
    const { minFee, nameFee, accountFee } = this.#read.parameters
    const to = Charges.recipientOf(operation)
    const isNew = to !== undefined && AccountRecord.isEmpty(this.#read.account(to))
    const least = Charges.leastFee(operation._tag, { minFee, nameFee }) + (isNew ? accountFee : 0)
    if (this.#draws.percent(75)) return least
    return this.#near(
      least,
      minFee,
      nameFee,
      minFee + accountFee,
      this.#read.account(from.address).balance,
      Sats.MAX_SUPPLY,
    )
  }

  #nonce({ address }: P): number {
    const next = this.#setting.nextNonce(address)
    return this.#draws.percent(92) ? next : this.#near(next, next + 63)
  }

  #operation(type: Operation.Type, from: P): Operation.Operation {
    const draws = this.#draws
    switch (type) {
      case "Transfer":
        return { _tag: "Transfer", to: this.#target(from), amount: this.#amount(from), memo: this.#memo() }
      case "StakeTx": {
        const amount = draws.percent(75)
          ? unchecked<Sats.Sats>(Sats.MIN_STAKE_SATS + draws.below(100))
          : this.#amount(from)
        return { _tag: "StakeTx", amount }
      }
      case "UnstakeTx":
        return { _tag: "UnstakeTx" }
      case "DelegateTx":
        return this.#delegation(from)
      case "UndelegateTx":
        return { _tag: "UndelegateTx" }
      case "SetCommissionTx": {
        const percents = draws.percent(75) ? Numbers.within(0, 100) : Numbers.within(0, 255, 100)
        return { _tag: "SetCommissionTx", commissionPercent: draws.pick(percents) }
      }
      case "CreateProposalTx": {
        const title = this.#text(Numbers.within(0, Limits.TITLE_BYTES))
        const description = this.#text(draws.percent(95) ? [0, 1] : Numbers.within(0, Limits.DESCRIPTION_BYTES))
        return { _tag: "CreateProposalTx", title, description, payload: this.#payload(from) }
      }
      case "VoteTx":
        return { _tag: "VoteTx", proposalId: this.#proposal(), vote: draws.percent(80) }
      case "RegisterNameTx":
        return { _tag: "RegisterNameTx", name: this.#name() }
      case "SetAccountPolicyTx":
        return this.#policy()
      case "RotateKeyTx":
        return {
          _tag: "RotateKeyTx",
          validatorKey: this.#setting.keyOf(this.#targets.any(draws)),
          proof: "5".repeat(128) as Signature,
        }
    }
  }

  #text(lengths: ReadonlyArray<number>): string {
    return "x".repeat(this.#draws.pick(lengths))
  }

  #memo(): string {
    return this.#draws.percent(90) ? "" : this.#text(Numbers.within(0, Limits.MEMO_BYTES))
  }

  #delegation(from: P): Operation.Operation {
    const draws = this.#draws
    const read = this.#read
    const held = read.delegation(from.address)?.validator
    const active = this.#targets.people.filter(({ address }) => read.stake(address).isActiveValidator)
    const working = active.length > 0 ? draws.pick(active).address : this.#target(from)
    const validator = draws.percent(40) ? (held ?? working) : draws.percent(50) ? working : this.#target(from)
    const amount = draws.percent(40) ? this.#sats(read.parameters.minDelegation) : this.#amount(from)
    return { _tag: "DelegateTx", validator, amount }
  }

  #proposal(): Natural.ProposalId {
    const newest = this.#read.head.nextProposalId - 1
    return unchecked(
      this.#draws.percent(80) ? Math.max(0, newest - this.#draws.below(4)) : this.#near(Math.max(0, newest)),
    )
  }

  /** Few names, so that many are taken. Some have the minimum or maximum length. */
  #name(): Name {
    const draws = this.#draws
    if (draws.percent(90)) return `n${draws.below(30)}x` as Name
    return draws.pick(["0", "z"]).repeat(draws.pick([3, 4, NameOf.MAX_BYTES - 1, NameOf.MAX_BYTES])) as Name
  }

  #policy(): Operation.Operation {
    const draws = this.#draws
    const count = draws.pick([1, 1, 2, 2, ...Numbers.within(1, Limits.POLICY_KEYS + 1)])
    const keys = [
      ...new Set(Array.from({ length: count }, () => this.#setting.keyOf(draws.pick(this.#senders.people)))),
    ]
    return {
      _tag: "SetAccountPolicyTx",
      threshold: draws.pick([1, 1, 2, ...Numbers.within(0, keys.length + 1, keys.length)]),
      keys,
    }
  }

  #payload(from: P): ProposalPayload {
    const draws = this.#draws
    switch (draws.below(5)) {
      case 0:
        return { _tag: "Text" }
      case 1:
      case 2: {
        const action = draws.pick(["add", "remove"] as const)
        const council = this.#read.council()
        const isSeat = action === "remove" && council.length > 0 && draws.percent(60)
        return { _tag: "CouncilMembership", action, address: isSeat ? draws.pick(council) : this.#target(from) }
      }
      case 3: {
        const { treasury } = this.#read.totals
        return {
          _tag: "TreasurySpend",
          recipient: this.#target(from),
          amount: this.#sats(1, treasury, Sats.MAX_SUPPLY),
        }
      }
      default:
        return this.#parameterChange()
    }
  }

  #parameterChange(): ProposalPayload {
    const draws = this.#draws
    const { parameters, epochRounds } = this.#setting
    if (parameters.length === 0 || draws.percent(5)) {
      return { _tag: "ParameterChange", param: this.#text(Numbers.within(1, Limits.PARAMETER_NAME_BYTES)), value: 1 }
    }
    const entry = draws.pick(parameters)
    const least = Parameters.minimumOf(entry, epochRounds)
    // Most worlds keep a normal delay: after a delay of a million rounds nothing more would happen.
    const isMild = isSlow(entry) && draws.percent(98)
    const isHarmless = (value: number): boolean => !isMild || value <= least + 1 || value > entry.max
    const value = draws.pick(Numbers.around(least, entry.max).filter(isHarmless))
    return { _tag: "ParameterChange", param: entry.name, value }
  }

  /** Usually the signers that the account requires. */
  #signers(from: P): Omit<Request<P>, "unsigned"> {
    const draws = this.#draws
    const { people } = this.#senders
    if (draws.percent(3)) return { signers: [draws.pick(people)], isPolicy: draws.percent(50) }
    const { policy } = this.#read.account(from.address)
    if (policy === null) return { signers: [from], isPolicy: draws.percent(2) }
    const all = people.filter((someone) => policy.keys.includes(this.#setting.keyOf(someone)))
    const [first = from] = all
    if (all.length === 0 || draws.percent(2)) return { signers: [first], isPolicy: false }
    const count = draws.percent(90) ? policy.threshold : draws.pick([1, all.length])
    return { signers: all.slice(0, count), isPolicy: true }
  }
}
