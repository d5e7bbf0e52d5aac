/**
 * Frames between two nodes. Each begins with a four-byte head: one byte for kind and lane, then a three-byte
 * little-endian number. For a piece, the number is the length of the data that follows.
 */

/** Data that no honest node sends. */
export class Violation extends Error {
  readonly offence: "misframed" | "oversize"

  constructor(what: string, offence: "misframed" | "oversize" = "misframed") {
    super(what)
    this.offence = offence
  }
}

export const HEAD_BYTES = 4
/** Head and piece together fill one TLS record. */
export const PIECE_BYTES = 16_380
/** Credit charged per piece besides its length, for the memory around it. */
export const PIECE_COST = 64
export const MOST_NUMBER = 0xff_ffff

export const KIND = { last: 0, part: 1, credit: 2, ping: 3, pong: 4 } as const

export const numberAt = (bytes: Uint8Array): number =>
  (bytes[1] ?? 0) + (bytes[2] ?? 0) * 256 + (bytes[3] ?? 0) * 65_536

/** The length of the frame that starts here; undefined if the head is incomplete. Throws for an invalid head. */
export const frameLength = (start: Uint8Array): number | undefined => {
  if (start.length < HEAD_BYTES) return undefined
  const kind = (start[0] ?? 0) >> 4
  if (kind > KIND.pong) throw new Violation("a frame of unknown kind")
  if (kind > KIND.part) return HEAD_BYTES
  const length = numberAt(start)
  if (length > PIECE_BYTES) throw new Violation(`a piece of ${length} bytes, at most ${PIECE_BYTES} allowed`)
  return HEAD_BYTES + length
}

export const writeHead = (target: Uint8Array, at: number, kind: number, lane: number, number: number): void => {
  target[at] = kind * 16 + lane
  target[at + 1] = number & 255
  target[at + 2] = (number >> 8) & 255
  target[at + 3] = (number >> 16) & 255
}
