/** What clients, faults and the verdict need of a network, whether its nodes are processes or not. */
import type { Genesis } from "../../src/protocol/epoch/Genesis.js"
import type { SecretKey } from "../../src/protocol/identity/Keys.js"
import type { Of } from "./History.js"

export interface Node {
  readonly kill: () => Promise<unknown>
  readonly stop: () => Promise<unknown>
}

export interface Stage {
  readonly network: { readonly genesis: Genesis }
  readonly spenders: ReadonlyArray<SecretKey>
  /** What the spenders have at the beginning. */
  readonly accounts: Readonly<Record<string, number>>
  readonly names: ReadonlyArray<string>
  readonly validators: ReadonlyArray<string>
  /** What clients use, by name. */
  readonly doors: ReadonlyMap<string, string>
  readonly lines: { readonly cut: (isCut: (from: string, to: string) => boolean) => void; readonly heal: () => void }
  readonly node: (name: string) => Node
  readonly startNode: (name: string) => Promise<void>
  readonly pause: (name: string) => void
  readonly resume: (name: string) => void
  readonly setClock: (name: string, aheadMs: number) => void
  readonly saveFollower: () => Promise<(whileDown: () => void) => Promise<void>>
  readonly startCopy: (name: string) => Promise<Node>
  /** The vertices that nodes have signed or received, without those that it has returned before. */
  readonly newlySigned: () => ReadonlyArray<Of<"signed">>
  readonly end: () => Promise<void>
}
