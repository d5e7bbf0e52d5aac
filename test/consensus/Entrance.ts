/** A DAG that admits the vertices of a picture. */
import { Admission } from "../../src/consensus/admission/Admission.js"
import type { Bounds } from "../../src/consensus/admission/WaitingRoom.js"
import { Dag, type Node } from "../../src/consensus/dag/Dag.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import type { Vertex } from "../../src/protocol/vertex/Vertex.js"
import type { Picture } from "./Picture.js"

export const NOW = Natural.timestamp(100_000)

export class Entrance {
  readonly dag: Dag
  readonly admission: Admission
  readonly entered: Array<Vertex> = []

  constructor(picture: Pick<Picture, "committee">, bounds?: Bounds, onEnter: (vertex: Vertex) => void = () => {}) {
    this.dag = new Dag(picture.committee)
    const onInsert = ({ vertex }: Node): void => {
      this.entered.push(vertex)
      onEnter(vertex)
    }
    this.admission = new Admission(this.dag, onInsert, bounds)
  }

  receive(vertex: Vertex): void {
    this.admission.receive(vertex, this.dag.committee.seatOf(vertex.header.author) ?? -1)
  }
}

export const RETRY_MS = 500

/** No validator is connected. */
export const look = { retryMs: RETRY_MS, isOnItsWay: () => false, awaitedMs: 100 }

/** Looks are far apart. */
let looks = 0

export const toFetch = ({ admission }: Entrance, upTo = 99) =>
  admission.toFetch({ ...look, upTo, now: Natural.timestamp(NOW + 3_600_000 * ++looks) })

export const fetched = (picture: Picture, entrance: Entrance, upTo = 99): string =>
  toFetch(entrance, upTo)
    .map(({ parent }) => picture.vertices.find(({ header }) => header.hash === parent.hash))
    .map((vertex) => (vertex === undefined ? "?" : picture.nameOf(vertex)))
    .join(" ")
