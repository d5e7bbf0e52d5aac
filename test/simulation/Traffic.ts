/**
 * Wallets that send transactions of every type, look up what became of them, and resend those that seem lost. They read
 * the ledger of whichever machine they ask.
 */
import type { NumberedProposal, Reads } from "../../src/ledger/Reads.js"
import * as ProtocolVersion from "../../src/protocol/epoch/ProtocolVersion.js"
import type { Address } from "../../src/protocol/identity/Address.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Parameters from "../../src/protocol/numbers/Parameters.js"
import * as Sats from "../../src/protocol/numbers/Sats.js"
import * as AccountRecord from "../../src/protocol/state/AccountRecord.js"
import type * as Operation from "../../src/protocol/transaction/Operation.js"
import * as Possession from "../../src/protocol/transaction/Possession.js"
import type { ProposalPayload } from "../../src/protocol/transaction/ProposalPayload.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import type { Chance } from "./Chance.js"
import type { Scheme, Signer } from "./Scheme.js"
import type { Person, World } from "./World.js"

const MAX_PENDING = 4
/** Low enough that some proposals of a version end between half and two thirds of the stake. */
const UPGRADERS_PERCENT = 88
/** The share of key changes in a validator's transactions, once the version allows them. */
const ROTATIONS_PERCENT = 12

/** A machine as a wallet sees it. */
export interface Door {
  readonly read: Reads
  /** Whether the machine accepts the transaction, or has it already. */
  readonly submit: (transaction: Transaction.Transaction) => boolean
}

const COIN = Sats.SATS_PER_COIN

/** One person's keys and pending transactions. */
class Wallet {
  readonly person: Person
  /** Ordered by nonce, without gaps. */
  pending: Array<Transaction.Transaction> = []
  /** Signatures of a policy need these keys again when they are repeated. */
  cosigners: ReadonlyArray<Signer> = []

  constructor(person: Person) {
    this.person = person
  }

  /** The highest next nonce seen anywhere: a machine with a lower one lags behind. */
  #nonce = 0

  /** Drops transactions that the ledger has, or can no longer accept. False if this machine knows less than others. */
  settle({ read, submit }: Door): boolean {
    const { nonce } = read.account(this.person.address)
    if (nonce < this.#nonce) return false
    this.#nonce = nonce
    this.pending = this.pending.filter((transaction) => transaction.nonce >= nonce)
    const [first] = this.pending
    if (first !== undefined && !submit(first)) this.pending = []
    return true
  }
}

export interface Wishes {
  /** The validators vote for the next protocol version before anything else. */
  readonly upgrades: boolean
  /** Called with each new key of a validator before the key is announced. Null: no validator changes its key. */
  readonly rotates: ((validator: Person, key: Signer) => void) | null
}

export class Traffic {
  readonly #chance: Chance
  readonly #scheme: Scheme
  readonly #networkId: NetworkId
  readonly #world: World
  readonly #wallets: ReadonlyArray<Wallet>
  readonly #addresses: ReadonlyArray<Address>
  readonly #wishes: Wishes
  #names = 0
  #keys = 0

  constructor(chance: Chance, scheme: Scheme, world: World, wishes: Wishes) {
    this.#wishes = wishes
    this.#chance = chance
    this.#scheme = scheme
    this.#networkId = world.genesis.networkId
    this.#world = world
    this.#wallets = [...world.people, ...world.validators].map((person) => new Wallet(person))
    this.#addresses = [...world.people, ...world.validators, ...world.newcomers].map(({ address }) => address)
  }

  /** Sends a new or a pending transaction to this machine. */
  offer(door: Door): Transaction.Transaction | null {
    const wallet = this.#chance.pick(this.#wallets)
    if (!wallet.settle(door)) return null
    const isFull = wallet.pending.length >= MAX_PENDING
    if (isFull || (wallet.pending.length > 0 && this.#chance.percent(30))) {
      const again = this.#chance.pick(wallet.pending)
      door.submit(again)
      return again
    }
    const made = this.#create(wallet, door.read)
    if (made === null || !door.submit(made)) return null
    wallet.pending.push(made)
    return made
  }

  /** All pending transactions, as this machine sees them, after offering each once more. */
  unsettled(door: Door): ReadonlyArray<Transaction.Transaction> {
    return this.#wallets.flatMap((wallet) => {
      wallet.settle(door)
      for (const transaction of wallet.pending) door.submit(transaction)
      return wallet.pending
    })
  }

  /** The same transaction with an invalid signature. */
  forged(transaction: Transaction.Transaction): Transaction.Transaction {
    const { from, nonce, fee, operation, authorization } = transaction
    const flip = (signature: string) => `${signature.startsWith("0") ? "1" : "0"}${signature.slice(1)}`
    const broken: Transaction.Authorization =
      authorization._tag === "SingleKey"
        ? { ...authorization, signature: flip(authorization.signature) as typeof authorization.signature }
        : {
            ...authorization,
            signatures: authorization.signatures.map((proof) => ({
              ...proof,
              signature: flip(proof.signature) as typeof proof.signature,
            })),
          }
    return Transaction.make(this.#networkId, { from, nonce, fee, operation }, broken)
  }

  /** A newcomer's stake. */
  stakeOf(person: Person, read: Reads): Transaction.Transaction | null {
    const { balance, nonce } = read.account(person.address)
    const amount = balance - COIN
    if (amount < Sats.MIN_STAKE_SATS) return null
    const unsigned = { from: person.address, nonce, fee: Sats.ZERO, operation: stakeTx(amount) }
    return this.#sign(unsigned, person.signer, [])
  }

  #create(wallet: Wallet, read: Reads): Transaction.Transaction | null {
    // Transactions that follow a change of keys would be signed by the wrong ones.
    if (wallet.pending.some((before) => before.operation._tag === "SetAccountPolicyTx")) return null
    const { person } = wallet
    const { nonce, policy } = read.account(person.address)
    const last = wallet.pending.at(-1)
    const next = last === undefined ? nonce : Natural.nonce(last.nonce + 1)
    const operation = this.#rotation(wallet, next, read) ?? this.#operation(wallet, read)
    const unsigned = {
      from: person.address,
      nonce: next,
      fee: this.#fee(operation, read),
      operation,
    }
    return this.#sign(unsigned, person.signer, policy === null ? [] : wallet.cosigners)
  }

  #sign(unsigned: Transaction.Unsigned, signer: Signer, cosigners: ReadonlyArray<Signer>): Transaction.Transaction {
    const bytes = Transaction.signedBytes(this.#networkId, unsigned)
    const [first] = cosigners
    const authorization: Transaction.Authorization =
      first === undefined
        ? { _tag: "SingleKey", publicKey: signer.publicKey, signature: signer.sign(bytes) }
        : {
            _tag: "Policy",
            signatures: cosigners.map((cosigner) => ({
              publicKey: cosigner.publicKey,
              signature: cosigner.sign(bytes),
            })),
          }
    return Transaction.make(this.#networkId, unsigned, authorization)
  }

  #fee(operation: Operation.Operation, read: Reads): Sats.Sats {
    const { minFee, nameFee, accountFee } = read.parameters
    switch (operation._tag) {
      case "StakeTx":
      case "UnstakeTx":
      case "DelegateTx":
      case "UndelegateTx":
      case "SetCommissionTx":
        return Sats.ZERO
      case "RegisterNameTx":
        return Sats.make(nameFee + this.#chance.below(1_000))
      case "Transfer": {
        const price = AccountRecord.isEmpty(read.account(operation.to)) ? accountFee : 0
        return Sats.make(minFee + price + this.#chance.below(5_000))
      }
      case "CreateProposalTx":
      case "VoteTx":
      case "SetAccountPolicyTx":
      case "RotateKeyTx":
        return Sats.make(minFee + this.#chance.below(5_000))
    }
  }

  /** Announces a new validator key in some cases; null otherwise. */
  #rotation({ person }: Wallet, nonce: Natural.Nonce, read: Reads): Operation.Operation | null {
    const { rotates } = this.#wishes
    const isInForce = ProtocolVersion.rulesOf(read.epoch.rules.protocolVersion).rotatesKeys
    if (rotates === null || !isInForce || !this.#world.validators.includes(person)) return null
    if (!this.#chance.percent(ROTATIONS_PERCENT)) return null
    const key = this.#scheme.signerOf(`${person.name}/key ${this.#keys++}`)
    rotates(person, key)
    const proof = Possession.sign(this.#networkId, { account: person.address, nonce }, key)
    return { _tag: "RotateKeyTx", validatorKey: key.publicKey, proof }
  }

  #operation(wallet: Wallet, read: Reads): Operation.Operation {
    const chance = this.#chance
    const isValidator = this.#world.validators.includes(wallet.person)
    const upgrade = isValidator && this.#wishes.upgrades ? this.#upgrade(wallet, read) : null
    if (upgrade !== null) return upgrade
    const luck = chance.below(100)
    if (isValidator) {
      if (luck < 15) return { _tag: "SetCommissionTx", commissionPercent: chance.below(101) }
      if (luck < 50) return this.#vote(read)
      if (luck < 60) return this.#propose()
      if (luck < 63) return stakeTx(Sats.MIN_STAKE_SATS)
      return this.#transfer()
    }
    if (luck < 12) return this.#delegate()
    if (luck < 18) return { _tag: "UndelegateTx" }
    if (luck < 22) return stakeTx(Sats.MIN_STAKE_SATS + chance.below(COIN))
    if (luck < 25) return { _tag: "UnstakeTx" }
    if (luck < 32) return this.#propose()
    if (luck < 36) return { _tag: "RegisterNameTx", name: `name-${this.#names++}` as Operation.RegisterName["name"] }
    if (luck < 39) return this.#policy(wallet)
    if (luck < 42) return this.#vote(read)
    return this.#transfer()
  }

  /**
   * An address, mostly without an account. There are few, so that several transfers in one commit can pay the same one.
   */
  #stranger(): Address {
    return String(this.#chance.below(500)).padStart(40, "0") as Address
  }

  #transfer(): Operation.Operation {
    const amount = this.#chance.percent(5) ? 1_000_000 * COIN : this.#chance.between(1, 20 * COIN)
    const to = this.#chance.percent(20) ? this.#stranger() : this.#chance.pick(this.#addresses)
    return { _tag: "Transfer", to, amount: Sats.make(amount), memo: "" }
  }

  #delegate(): Operation.Operation {
    const validator = this.#chance.pick(this.#world.validators).address
    return { _tag: "DelegateTx", validator, amount: Sats.make(this.#chance.between(1, 300) * COIN) }
  }

  #vote(read: Reads): Operation.Operation {
    const [newest] = read.proposals(1)
    return { _tag: "VoteTx", proposalId: newest?.id ?? Natural.proposalId(1), vote: this.#chance.percent(80) }
  }

  /** Proposes the version or votes for it; null where this wallet has nothing to do for it. */
  #upgrade({ person }: Wallet, read: Reads): Operation.Operation | null {
    if (read.decidedVersion === ProtocolVersion.NEWEST) return null
    const isUpgrade = ({ payload, status }: NumberedProposal) =>
      status === "Active" && payload._tag === "ParameterChange" && payload.param === ProtocolVersion.PARAMETER
    const open = read.proposals(10).find(isUpgrade)
    if (open !== undefined) {
      const ballot = read.ballot(open.id, person.address)
      const vote = this.#chance.percent(UPGRADERS_PERCENT)
      return ballot?.vote === null ? { _tag: "VoteTx", proposalId: open.id, vote } : null
    }
    const payload = {
      _tag: "ParameterChange",
      param: ProtocolVersion.PARAMETER,
      value: ProtocolVersion.NEWEST,
    } as const
    return { _tag: "CreateProposalTx", title: "An upgrade", description: "", payload }
  }

  #propose(): Operation.Operation {
    return { _tag: "CreateProposalTx", title: "A thought", description: "", payload: this.#payload() }
  }

  /** Only parameters that stay within the model. The length of an epoch is not among them. */
  #payload(): ProposalPayload {
    const chance = this.#chance
    switch (chance.below(4)) {
      case 0:
        return { _tag: "Text" }
      case 1:
        return {
          _tag: "TreasurySpend",
          recipient: chance.pick(this.#addresses),
          amount: Sats.make(chance.between(1, 50) * COIN),
        }
      case 2:
        return {
          _tag: "CouncilMembership",
          action: chance.percent(50) ? "add" : "remove",
          address: chance.pick(this.#addresses),
        }
      default:
        return this.#parameterChange()
    }
  }

  #parameterChange(): ProposalPayload {
    const chance = this.#chance
    const change = chance.pick([
      { key: "treasuryPercent", value: chance.between(0, 50) },
      { key: "councilPercent", value: chance.between(0, 30) },
      { key: "checkpointIntervalRounds", value: chance.between(10, 20) },
      { key: "minFee", value: chance.between(500, 2_000) },
      { key: "accountFee", value: chance.between(0, 2_200_000) },
      { key: "slashPercent", value: chance.between(10, 60) },
      { key: "minDelegation", value: chance.between(1, COIN) },
      { key: "cooldownRounds", value: chance.between(40, 60) },
    ] as const)
    const param = Parameters.table.find(({ key }) => key === change.key)?.name ?? "min_fee_sats"
    return { _tag: "ParameterChange", param, value: change.value }
  }

  #policy(wallet: Wallet): Operation.Operation {
    if (wallet.cosigners.length === 0) {
      wallet.cosigners = [0, 1].map((i) => this.#scheme.signerOf(`${wallet.person.name}/${i}`))
    }
    const keys = wallet.cosigners.map(({ publicKey }) => publicKey)
    return { _tag: "SetAccountPolicyTx", threshold: this.#chance.between(1, 2), keys }
  }
}

const stakeTx = (amount: number): Operation.Operation => ({ _tag: "StakeTx", amount: Sats.make(amount) })
