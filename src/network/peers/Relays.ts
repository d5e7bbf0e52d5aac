/**
 * Routing of broadcast messages. The author sends to all members and named peers it is connected to, and lists the
 * committee members it is not connected to. Each node that hears news relays it to the listed members it is connected
 * to, and to its named peers. Both also send to a few random strangers. So a fully connected committee gets each message
 * once, and the cost of a crowd of strangers does not grow with the crowd. A wrong list harms only its author's
 * messages: all other authors reach all members themselves.
 */
import { sha256, toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Address from "../../protocol/identity/Address.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Tag } from "../MessageCodec.js"

export type Channel = "transactions" | "votes"

/** Members not reached yet; `"any"` if the author does not know the committee. */
export type Untold = ReadonlyArray<Address.Address> | "any"

export interface Told {
  readonly from: PeerId
  readonly channel: Channel
  readonly tag: Tag
  readonly message: Uint8Array
  readonly untold: Untold
}

/** A third of the largest committee: with more members away, nothing becomes final anyway. */
const MOST_NAMED = 34
const ANY = 255
export const LIST_BYTES = 1 + MOST_NAMED * Address.BYTES
/** How many strangers get a relayed message: enough to reach nearly every node in a network of any size. */
const STRANGERS = 8
/** How many strangers the author sends to: usually all. */
const STRANGERS_OF_AUTHOR = 32
/** How long a message is recognised by its bytes. Later repetitions are deliberate and are not relayed anyway. */
const KNOWN_MS = 3_000
/** More than arrive within that time. */
const MOST_KNOWN = 8_192

export const envelope = (untold: Untold, message: Uint8Array): Uint8Array =>
  Binary.encode((writer) => {
    const named = untold === "any" || untold.length > MOST_NAMED ? null : untold
    writer.u8(named === null ? ANY : named.length)
    for (const address of named ?? []) writer.hex(address)
    writer.raw(message)
  })

/** Null if the member list is malformed. The message is a view of `bytes`. */
export const open = (bytes: Uint8Array): { readonly untold: Untold; readonly message: Uint8Array } | null => {
  const count = bytes[0]
  if (count === undefined) return null
  if (count === ANY) return { untold: "any", message: bytes.subarray(1) }
  const end = 1 + count * Address.BYTES
  if (count > MOST_NAMED || end > bytes.length) return null
  const untold = Array.from({ length: count }, (_, i) => {
    return toHex(bytes.subarray(1 + i * Address.BYTES, 1 + (i + 1) * Address.BYTES)) as Address.Address
  })
  return { untold, message: bytes.subarray(end) }
}

export interface Recipient {
  readonly peer: PeerId
  /** Its validator, if a committee member. */
  readonly member: Address.Address | null
  readonly isStranger: boolean
}

export interface Route<R extends Recipient> {
  readonly to: ReadonlyArray<R>
  /** Members this node cannot reach. */
  readonly untold: Untold
}

const drawn = <A>(all: Array<A>, count: number, chance: () => number): ReadonlyArray<A> => {
  for (let i = 0; i < Math.min(count, all.length - 1); i++) {
    const other = i + Math.floor(chance() * (all.length - i))
    const [a, b] = [all[i], all[other]]
    if (a === undefined || b === undefined) continue
    all[i] = b
    all[other] = a
  }
  return all.slice(0, count)
}

const isStranger = ({ isStranger }: Recipient): boolean => isStranger

/** The author's route. */
export const ofOwn = <R extends Recipient>(
  self: Address.Address | null,
  peers: ReadonlyArray<R>,
  committee: ReadonlyArray<Address.Address>,
  chance: () => number,
): Route<R> => {
  const told = new Set(peers.map(({ member }) => member)).add(self)
  const strangers = drawn(peers.filter(isStranger), STRANGERS_OF_AUTHOR, chance)
  return {
    to: [...peers.filter((peer) => !isStranger(peer)), ...strangers],
    untold: committee.length === 0 ? "any" : committee.filter((member) => !told.has(member)),
  }
}

/** The route of a relayed message. */
export const ofOther = <R extends Recipient>(
  { from, untold }: Pick<Told, "from" | "untold">,
  self: Address.Address | null,
  peers: ReadonlyArray<R>,
  committee: ReadonlyArray<Address.Address>,
  chance: () => number,
): Route<R> => {
  const others = peers.filter(({ peer }) => peer !== from)
  const left = new Set(untold === "any" ? committee : untold)
  if (self !== null) left.delete(self)
  const members = others.filter(({ member }) => member !== null && left.has(member))
  for (const { member } of members) if (member !== null) left.delete(member)
  const named = others.filter(({ member, isStranger }) => member === null && !isStranger)
  const strangers = drawn(others.filter(isStranger), STRANGERS, chance)
  return {
    to: [...members, ...named, ...strangers],
    untold: untold === "any" && committee.length === 0 ? "any" : [...left],
  }
}

export class Known {
  readonly #now: () => number
  readonly #messages = new Map<string, { readonly since: number; readonly isTrusted: boolean }>()

  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#messages.size
  }

  /**
   * Whether the message arrived before. Records it as seen. A message from strangers may have been dropped, so it does
   * not keep out a member's copy (`isTrusted`).
   */
  has(message: Uint8Array, isTrusted: boolean): boolean {
    const now = this.#now()
    const name = toHex(sha256(message))
    for (const [oldest, { since }] of this.#messages) {
      if (now - since < KNOWN_MS && this.#messages.size < MOST_KNOWN) break
      this.#messages.delete(oldest)
    }
    const known = this.#messages.get(name)
    if (known !== undefined && (known.isTrusted || !isTrusted)) return true
    this.#messages.delete(name)
    this.#messages.set(name, { since: now, isTrusted })
    return false
  }
}
