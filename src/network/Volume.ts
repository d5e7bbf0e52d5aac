/** Counts messages and bytes by direction, kind and the peer's standing. Each message costs two additions. */
import type { Tag } from "./MessageCodec.js"
import type { Standing } from "./Standing.js"

export type Direction = "received" | "sent"

export interface Amount {
  readonly direction: Direction
  readonly kind: Tag
  readonly of: Standing
  readonly messages: number
  readonly bytes: number
}

type Cells = { readonly [S in Standing]: { messages: number; bytes: number } }

const cells = (): Cells => ({
  member: { messages: 0, bytes: 0 },
  named: { messages: 0, bytes: 0 },
  stranger: { messages: 0, bytes: 0 },
})

export class Volume {
  readonly #received = new Map<Tag, Cells>()
  readonly #sent = new Map<Tag, Cells>()

  received(kind: Tag, from: Standing, bytes: number): void {
    this.#add(this.#received, kind, from, bytes)
  }

  sent(kind: Tag, to: Standing, bytes: number): void {
    this.#add(this.#sent, kind, to, bytes)
  }

  #add(cellsOf: Map<Tag, Cells>, kind: Tag, of: Standing, bytes: number): void {
    let known = cellsOf.get(kind)
    if (known === undefined) {
      known = cells()
      cellsOf.set(kind, known)
    }
    const cell = known[of]
    cell.messages++
    cell.bytes += bytes
  }

  get amounts(): ReadonlyArray<Amount> {
    return [...rowsOf("received", this.#received), ...rowsOf("sent", this.#sent)]
  }
}

const rowsOf = (direction: Direction, cellsOf: ReadonlyMap<Tag, Cells>): ReadonlyArray<Amount> =>
  [...cellsOf].flatMap(([kind, known]) =>
    (["member", "named", "stranger"] as const)
      .filter((of) => known[of].messages > 0)
      .map((of) => ({ direction, kind, of, ...known[of] })),
  )
