/** Recounts balances and statements from a genesis and its chain, without the ledger's code. */
import { join } from "node:path"
import type { PromiseClient } from "../../src/client/Client.js"
import * as Address from "../../src/protocol/identity/Address.js"
import * as Processes from "./Processes.js"

type Client = Pick<PromiseClient, "checkpoints" | "dag" | "transactions">

type Recorded = Awaited<ReturnType<Client["transactions"]["lookup"]>>

interface Ordered {
  readonly commit: number
  readonly epoch: number
  readonly leaderRound: number
  readonly round: number
  readonly author: string
  /** The amount that the vertex claims to mint. */
  readonly claim: bigint
  readonly transactions: ReadonlyArray<Recorded>
}

/** By epoch. */
type Weights = ReadonlyMap<number, ReadonlyMap<string, bigint>>

export interface Chain {
  readonly vertices: ReadonlyArray<Ordered>
  readonly weights: Weights
}

const weightsOf = async ({ checkpoints }: Client, { genesis }: Processes.Founded): Promise<Weights> => {
  const founders = genesis.validators.map(
    ({ publicKey, stake }) => [`${Address.fromPublicKey(publicKey)}`, BigInt(stake)] as const,
  )
  const weights = new Map([[1, new Map(founders)]])
  const { epoch: running } = await checkpoints.latest()
  for (let epoch = 1; epoch <= running; epoch++) {
    const { next_epoch: next } = await checkpoints.closing({ path: { epoch } }).catch(() => ({ next_epoch: null }))
    const members = next?.members.map(({ address, weight }) => [`${address}`, BigInt(weight)] as const)
    if (members !== undefined) weights.set(epoch + 1, new Map(members))
  }
  return weights
}

/** From a node that stands still. Its file has the order of vertices within a commit, which HTTP does not report. */
export const read = async (
  client: Client,
  network: Processes.Founded,
  { directory }: Processes.Started,
): Promise<Chain> => {
  const order = Processes.rows(
    join(directory, "udg.db"),
    `select c.commit_index, c.epoch, c.leader_round, lower(hex(v.hash)) from vertices v
      join commits c on c.commit_index = v.commit_index order by v.commit_index, v.position`,
  )
  const vertices: Array<Ordered> = []
  for (const [commit, epoch, leaderRound, hash] of order) {
    const vertex = await client.dag.vertex({ path: { hash: `${hash}` } })
    const transactions: Array<Recorded> = []
    for (const { hash: id, outcome } of vertex.transactions) {
      if (outcome !== "no effect") transactions.push(await client.transactions.lookup({ path: { hash: id } }))
    }
    vertices.push({
      ...{ commit: Number(commit), epoch: Number(epoch), leaderRound: Number(leaderRound), round: vertex.round },
      ...{ author: vertex.validator, claim: BigInt(vertex.coinbase_reward), transactions },
    })
  }
  return { vertices, weights: await weightsOf(client, network) }
}

/** Sums of changes in sats: by transaction and role, and by kind where there is no transaction. */
export type Statement = Readonly<Record<string, number>>

interface Entry {
  readonly kind: string
  readonly hash: string | null
  readonly change: number
}

export const statementOf = (entries: ReadonlyArray<Entry>): Statement => {
  const sums: Record<string, number> = {}
  for (const { kind, hash, change } of entries) {
    const key = hash === null ? kind : `${kind} ${hash}`
    sums[key] = (sums[key] ?? 0) + change
  }
  return sums
}

/** The pool of one validator. All shares together are worth its whole amount. */
interface Pool {
  readonly validator: string
  amount: bigint
  shares: bigint
}

interface Delegation {
  pool: Pool
  readonly shares: bigint
  /** Undefined unless it is leaving. */
  leaving?: { readonly epoch: number; readonly unlocksAt: number }
}

const ceiling = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

/** The accounts of a network without a council in which nobody stakes, unstakes, is slashed or proposes. */
export class Recount {
  /** Vertices that claim another reward than is due for their round, epoch and validator. */
  readonly falseClaims: Array<Ordered> = []
  total = 0n
  treasury = 0n
  readonly #genesis: Processes.Founded["genesis"]
  readonly #weights: Weights
  readonly #entries = new Map<string, Array<Entry>>()
  readonly #stakes = new Map<string, bigint>()
  readonly #commissions = new Map<string, bigint>()
  readonly #pools = new Map<string, Pool>()
  readonly #delegations = new Map<string, Delegation>()

  constructor({ genesis }: Processes.Founded, { vertices, weights }: Chain) {
    this.#genesis = genesis
    this.#weights = weights
    for (const { address, amount } of genesis.allocations) {
      this.#change(address, "genesis", BigInt(amount))
      this.total += BigInt(amount)
    }
    for (const { publicKey, stake, commissionPercent } of genesis.validators) {
      const address = Address.fromPublicKey(publicKey)
      this.#entries.set(address, [])
      this.#stakes.set(address, BigInt(stake))
      this.#commissions.set(address, BigInt(commissionPercent))
      this.#pools.set(address, { validator: address, amount: 0n, shares: 0n })
      this.total += BigInt(stake)
    }
    for (const [i, vertex] of vertices.entries()) {
      for (const transaction of vertex.transactions) this.#execute(transaction, vertex)
      this.#reward(vertex)
      if (vertices[i + 1]?.commit !== vertex.commit) this.#endCommit(vertex)
    }
  }

  get accounts(): ReadonlyArray<string> {
    return [...this.#entries.keys()]
  }

  statement(account: string): Statement {
    return statementOf(this.#entries.get(account) ?? [])
  }

  balance(account: string): number {
    return (this.#entries.get(account) ?? []).reduce((sum, { change }) => sum + change, 0)
  }

  /** The value of its delegation; undefined without one. */
  delegation(account: string): number | undefined {
    const found = this.#delegations.get(account)
    return found === undefined ? undefined : Number((found.shares * found.pool.amount) / found.pool.shares)
  }

  #change(account: string, kind: string, change: bigint, hash: string | null = null): void {
    const entries = this.#entries.get(account) ?? []
    this.#entries.set(account, entries)
    if (change !== 0n || hash !== null) entries.push({ kind, hash, change: Number(change) })
  }

  #execute({ hash, applied, transaction }: Recorded, { author, epoch }: Ordered): void {
    const { from, type } = transaction
    const fee = BigInt(transaction.fee ?? 0)
    if (applied !== true) {
      this.#change(from, "sent", -fee, hash)
      this.#change(author, "fees", fee)
      return
    }
    let toTreasury = 0n
    if (type === "Transfer") {
      const { to } = transaction
      if (!this.#entries.has(to)) toTreasury = BigInt(this.#genesis.parameters.accountFee)
      this.#change(from, "sent", -BigInt(transaction.amount) - fee, hash)
      this.#change(to, "received", BigInt(transaction.amount), hash)
    } else if (type === "DelegateTx") {
      this.#change(from, "sent", -this.#deposit(from, transaction.validator, BigInt(transaction.amount)) - fee, hash)
    } else {
      this.#change(from, "sent", -fee, hash)
      if (type === "RegisterNameTx") toTreasury = fee
      else if (type === "SetCommissionTx") this.#commissions.set(from, BigInt(transaction.commission_percent))
      else if (type === "UndelegateTx") this.#leave(from, epoch)
      else throw new Error(`${type} is not counted`)
    }
    this.treasury += toTreasury
    this.#change(author, "fees", fee - toTreasury)
  }

  /** Deposits into a pool. Returns the price. */
  #deposit(from: string, validator: string, amount: bigint): bigint {
    const pool = this.#pools.get(validator)
    if (pool === undefined || this.#delegations.has(from)) throw new Error(`${from} cannot delegate to ${validator}`)
    const shares = pool.shares === 0n ? amount : (amount * pool.shares) / pool.amount
    const cost = pool.shares === 0n ? amount : ceiling(shares * pool.amount, pool.shares)
    pool.amount += cost
    pool.shares += shares
    this.#delegations.set(from, { pool, shares })
    return cost
  }

  #leave(from: string, epoch: number): void {
    const delegation = this.#delegations.get(from)
    if (delegation === undefined) throw new Error(`${from} delegates to nobody`)
    delegation.leaving = { epoch, unlocksAt: this.#lastRound + this.#genesis.parameters.cooldownRounds }
  }

  /** The last round of the current epoch. */
  get #lastRound(): number {
    return this.#firstRound + this.#genesis.protocol.epochRounds - 1
  }
  #firstRound = 1

  #reward(vertex: Ordered): void {
    const { roundReward, halvingRounds } = this.#genesis.protocol
    const { treasuryPercent } = this.#genesis.parameters
    const weights = this.#weights.get(vertex.epoch) ?? new Map<string, bigint>()
    const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0n)
    const ofRound = BigInt(roundReward) >> BigInt(Math.floor((vertex.round - 1) / halvingRounds))
    const minted = (ofRound * (weights.get(vertex.author) ?? 0n)) / all
    if (minted !== vertex.claim) this.falseClaims.push(vertex)
    const pool = this.#pools.get(vertex.author)
    const stake = this.#stakes.get(vertex.author) ?? 0n
    if (pool === undefined) throw new Error(`${vertex.author} is no validator`)
    // Without a council, its share goes to the treasury.
    const toTreasury =
      (minted * BigInt(treasuryPercent)) / 100n + (minted * BigInt(this.#genesis.parameters.councilPercent)) / 100n
    const rest = minted - toTreasury
    const shared = rest - (rest * (this.#commissions.get(vertex.author) ?? 0n)) / 100n
    const toPool = (shared * pool.amount) / (stake + pool.amount)
    pool.amount += toPool
    this.treasury += toTreasury
    this.total += minted
    this.#change(vertex.author, "reward", rest - toPool)
  }

  #endCommit({ epoch, leaderRound }: Ordered): void {
    for (const [account, { leaving, pool, shares }] of this.#delegations) {
      if (leaving === undefined || leaving.unlocksAt > leaderRound || leaving.epoch + 2 > epoch) continue
      const worth = (shares * pool.amount) / pool.shares
      pool.amount -= worth
      pool.shares -= shares
      this.#delegations.delete(account)
      this.#change(account, "delegation_released", worth)
    }
    if (leaderRound < this.#lastRound) return
    this.#firstRound = leaderRound + 1
    this.#separate(epoch)
  }

  /** Delegators who left in this epoch earn no more. */
  #separate(epoch: number): void {
    const apart = new Map<Pool, Pool>()
    for (const delegation of this.#delegations.values()) {
      const { leaving, pool, shares } = delegation
      if (leaving?.epoch !== epoch) continue
      const own = apart.get(pool) ?? { validator: pool.validator, amount: 0n, shares: 0n }
      apart.set(pool, own)
      own.shares += shares
      delegation.pool = own
    }
    for (const [pool, own] of apart) {
      own.amount = (own.shares * pool.amount) / pool.shares
      pool.amount -= own.amount
      pool.shares -= own.shares
    }
  }
}
