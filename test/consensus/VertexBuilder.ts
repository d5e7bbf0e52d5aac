/**
 * Makes vertices for tests, signed with the fake scheme. Unspecified fields have the values that an honest validator
 * chooses.
 */
import { Committee } from "../../src/consensus/dag/Committee.js"
import type { Opening } from "../../src/consensus/output/Opening.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as FakeKeys from "./FakeKeys.js"

export const parentOf = ({ header: { round, author, hash } }: Vertex.Vertex): Header.Parent => ({ round, author, hash })

export class VertexBuilder {
  readonly opening: Opening
  readonly committee: Committee

  constructor(opening: Opening) {
    this.opening = opening
    this.committee = new Committee(opening.record)
  }

  /** A vertex of this seat and round on these parents. */
  make(
    seat: number,
    round: number,
    parents: ReadonlyArray<Header.Parent>,
    given: Partial<Header.Content> = {},
    body: Vertex.Body = Vertex.emptyBody,
  ): Vertex.Vertex {
    const { publicKey } = this.committee.member(seat)
    const content: Header.Content = {
      base: this.opening.base,
      epoch: this.opening.record.epoch,
      round: Natural.round(round),
      publicKey,
      parents,
      timestamp: Natural.nearestTimestamp(round),
      coinbase: this.committee.coinbase(Natural.round(round), seat),
      bodyHash: Vertex.bodyHash(body),
      ...given,
    }
    return Vertex.make(Header.make(content, FakeKeys.signWith(content.publicKey)), body)
  }
}
