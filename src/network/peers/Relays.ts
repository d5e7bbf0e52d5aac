/**
 * How messages for everybody travel. Whoever has something to say tells all its peers, and names the members of the
 * committee that it is not connected to. Whoever hears news passes it on: to those of the named members that it is
 * connected to, and to a few peers that are no members, drawn anew for each message. So a message reaches each member
 * once where all are connected, whoever else is there, and what a crowd of strangers costs does not grow with it.
 * A wrong list harms only messages of its own author: everybody else tells all members as well.
 */
import { sha256, toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Address from "../../protocol/identity/Address.js"
import type { PeerId } from "../../replica/messages/Peer.js"
import type { Tag } from "../MessageCodec.js"

/** The lanes of messages for everybody. */
export type Channel = "transactions" | "votes"

/** Members that were not told; `"any"`: perhaps all, since their author does not know the committee. */
export type Untold = ReadonlyArray<Address.Address> | "any"

export interface Told {
  readonly from: PeerId
  readonly channel: Channel
  readonly tag: Tag
  readonly message: Uint8Array
  readonly untold: Untold
}

/** A third of the largest committee: with more of them away, nothing becomes final anyway. */
const MOST_NAMED = 34
const ANY = 255
/** The longest list in front of a message. */
export const LIST_BYTES = 1 + MOST_NAMED * Address.BYTES
/** Passed on to this many peers that are no members: nearly everybody in a network of any size hears of it. */
const OTHERS = 8
/** How long a message is recognised by its bytes. Short: a later repetition is deliberate, and is not passed on anyway. */
const KNOWN_MS = 3_000
/** More than come within that time. */
const MOST_KNOWN = 8_192

export const envelope = (untold: Untold, message: Uint8Array): Uint8Array =>
  Binary.encode((writer) => {
    const named = untold === "any" || untold.length > MOST_NAMED ? null : untold
    writer.u8(named === null ? ANY : named.length)
    for (const address of named ?? []) writer.hex(address)
    writer.raw(message)
  })

/** Null for a list that cannot be read. The message is a part of `bytes`. */
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

/** A peer to which a message may go. */
export interface Recipient {
  readonly peer: PeerId
  /** Its validator, if that is a member. */
  readonly member: Address.Address | null
}

export interface Route<R extends Recipient> {
  readonly to: ReadonlyArray<R>
  /** Members that this node cannot tell. */
  readonly untold: Untold
}

/** Whom the author of a message tells: everybody. */
export const ofOwn = <R extends Recipient>(
  self: Address.Address | null,
  peers: ReadonlyArray<R>,
  committee: ReadonlyArray<Address.Address>,
): Route<R> => {
  const told = new Set(peers.map(({ member }) => member)).add(self)
  return { to: peers, untold: committee.length === 0 ? "any" : committee.filter((member) => !told.has(member)) }
}

/** Some of these, at random. */
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

/** Whom this node tells of another's message. */
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
  const strangers = drawn(
    others.filter(({ member }) => member === null),
    OTHERS,
    chance,
  )
  return { to: [...members, ...strangers], untold: untold === "any" && committee.length === 0 ? "any" : [...left] }
}

/** Messages that came within the last moments, by their bytes. */
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
   * Whether it came before; from now on it did. What strangers brought may have been dropped, and does not keep out what
   * a member brings (`isTrusted`).
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
