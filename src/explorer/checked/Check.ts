/** Checks an account against what a quorum signed, starting at the checkpoint that this browser trusts. */
import { Either, Option } from "effect"
import type * as Light from "../../light/Light.js"
import * as Natural from "../../protocol/numbers/Natural.js"
import type { NetworkInfo } from "../live/Network.js"
import { isMissing, node, reasonOf } from "../live/Node.js"
import * as Finding from "./Finding.js"
import * as TrustRoot from "./TrustRoot.js"

/** Loaded with the first check, because it weighs as much as the rest of the explorer. */
const light = () => import("../../light/Light.js")

/** The node's newest closing checkpoint; undefined before the first epoch has closed. */
const newest = async (): Promise<TrustRoot.Pin | undefined> => {
  const { epoch, hash, next_epoch } = await node.checkpoints.latest()
  if (next_epoch !== null) return { epoch: Natural.epoch(epoch), hash }
  if (epoch < 2) return undefined
  const before = Natural.epoch(epoch - 1)
  return { epoch: before, hash: (await node.checkpoints.closing({ path: { epoch: before } })).hash }
}

const trust = (info: NetworkInfo, pin: TrustRoot.Pin, source: TrustRoot.Root["source"]): TrustRoot.Root => {
  const since = Natural.timestamp(Date.now())
  const root = { version: 1, genesis: info.genesis_hash, ...pin, source, since } as const
  TrustRoot.keep(root)
  return root
}

/** Trusts a checkpoint that the user got elsewhere. */
export const enter = async (pin: TrustRoot.Pin): Promise<void> => {
  trust(await node.core.network(), pin, "entered")
}

/** The network's trust root: the stored one, or the newest checkpoint if this browser has none. */
const rootOf = async (info: NetworkInfo): Promise<TrustRoot.Root | undefined> => {
  const kept = TrustRoot.kept()
  if (kept !== undefined) return kept
  const pin = await newest()
  return pin && trust(info, pin, "first seen")
}

interface Started {
  readonly root: TrustRoot.Root
  readonly client: Light.Client
}

let started: Started | undefined

const isSameRoot = (a: TrustRoot.Root, b: TrustRoot.Root): boolean => a.epoch === b.epoch && a.hash === b.hash

const clientOf = ({ client, checkpoint }: typeof Light, root: TrustRoot.Root, { mode }: NetworkInfo): Light.Client => {
  if (started === undefined || !isSameRoot(started.root, root)) {
    const { epoch, hash } = root
    started = { root, client: client({ trust: checkpoint(epoch, hash, mode), nodes: [location.origin] }) }
  }
  return started.client
}

/** Stores the newest closing checkpoint that follows from the root, and lets the same client continue from there. */
const advance = ({ pinOf }: typeof Light, root: TrustRoot.Root, client: Light.Client): void => {
  const pin = pinOf(client.trust())
  if (pin === null || pin.epoch <= root.epoch) return
  const next = { ...root, ...pin }
  TrustRoot.keep(next)
  started = { root: next, client }
}

const signedOf = ({ proven: { address, account, checkpoint, signed } }: Light.Report): Finding.Signed => ({
  address,
  balance: account.balance,
  nonce: account.nonce,
  round: checkpoint.round,
  signers: signed,
})

const without = (reason: string): Finding.Finding => ({
  _tag: "Unchecked",
  reason: `no proof from this node: ${reason}`,
})

const refusalOf = ({ conflict, nodes: [asked] }: Light.NotProven): Finding.Finding => {
  const refusal = conflict ?? (asked && Option.getOrUndefined(Either.getLeft(asked.outcome)))
  const reason = refusal?.message ?? "it gave no answer"
  return refusal?.verdict === "false" ? { _tag: "Refused", reason } : without(reason)
}

/** The node's current claim, and a round that was final no earlier. */
const askAgain = async (account: string): Promise<readonly [claim: Finding.Claim, final: number]> => {
  const claim = await node.core.balance({ path: { address: account } })
  const { last_finalized_round } = await node.core.status()
  return [claim, last_finalized_round]
}

/** Checks one account repeatedly and remembers since when the node has made its claim. */
export class Watch {
  readonly #account: string
  #standing: Finding.Standing | undefined

  constructor(account: string) {
    this.#account = account
  }

  async run(): Promise<Finding.Finding> {
    try {
      return await this.#check()
    } catch (error) {
      if (isMissing(error)) return { _tag: "Unchecked", reason: "the node has no checkpoint yet" }
      return without(reasonOf(error))
    }
  }

  async #check(): Promise<Finding.Finding> {
    const [library, info] = await Promise.all([light(), node.core.network()])
    const root = await rootOf(info)
    if (root === undefined) return { _tag: "Unchecked", reason: "the first epoch has not closed yet" }
    if (root.genesis !== info.genesis_hash) return { _tag: "OtherNetwork" }
    const client = clientOf(library, root, info)
    const outcome = await client.account(this.#account).catch((error: unknown) => {
      if (error instanceof library.NotProven) return error
      throw error
    })
    if (outcome instanceof library.NotProven) return refusalOf(outcome)
    advance(library, root, client)
    const [claim, final] = await askAgain(this.#account)
    this.#standing = Finding.standing(this.#standing, claim, final)
    return Finding.judge(signedOf(outcome), this.#standing)
  }
}
