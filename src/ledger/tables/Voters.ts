/** The accounts with a ballot on each proposal: an index over the ballots, four bytes each. */
import type { ProposalId } from "../../protocol/numbers/Natural.js"
import type { Row } from "./AccountRows.js"
import { Cells, type Handle } from "./Cells.js"

const ROW_BYTES = 4

export class Voters {
  /** Indexed by proposal, since ids are dense; 0 for no ballots. */
  readonly #handles: Array<Handle> = []
  readonly #cells = new Cells()

  /** The rows of the accounts, in no particular order. */
  of(id: ProposalId): ReadonlyArray<Row> {
    const handle = this.#handles[id] ?? 0
    if (handle === 0) return []
    const bytes = this.#cells.get(handle)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    return Array.from({ length: bytes.length >>> 2 }, (_, i) => view.getUint32(i * ROW_BYTES))
  }

  set(id: ProposalId, rows: ReadonlyArray<Row>): void {
    const before = this.#handles[id] ?? 0
    if (before !== 0) this.#cells.free(before)
    while (this.#handles.length < id) this.#handles.push(0)
    this.#handles[id] = rows.length === 0 ? 0 : this.#cells.put(packed(rows))
  }

  add(id: ProposalId, row: Row): void {
    this.set(id, [...this.of(id), row])
  }
}

const packed = (rows: ReadonlyArray<Row>): Uint8Array => {
  const bytes = new Uint8Array(rows.length * ROW_BYTES)
  const view = new DataView(bytes.buffer)
  rows.forEach((row, i) => {
    view.setUint32(i * ROW_BYTES, row)
  })
  return bytes
}
