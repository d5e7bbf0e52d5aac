import { Either, FastCheck as fc, Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Hash from "../../src/protocol/identity/Hash.js"
import type { NetworkId } from "../../src/protocol/identity/Network.js"
import * as Limits from "../../src/protocol/numbers/Limits.js"
import * as Natural from "../../src/protocol/numbers/Natural.js"
import * as Transaction from "../../src/protocol/transaction/Transaction.js"
import * as Verification from "../../src/protocol/transaction/Verification.js"
import * as Header from "../../src/protocol/vertex/Header.js"
import * as Vertex from "../../src/protocol/vertex/Vertex.js"
import * as Rest from "../support/Rest.js"
import * as arbitrary from "./arbitraries.js"
import { hostileInputs, itObeysTheLawsOfACodec } from "./codecLaws.js"

const network = "udg-test" as NetworkId

itObeysTheLawsOfACodec("vertices", {
  values: arbitrary.vertex(network),
  small: arbitrary.vertex(network, 1),
  encode: ({ header, body }: Vertex.Vertex) => Vertex.make(header, body).encoded,
  decode: (bytes) => Vertex.decode(network, bytes),
})

const [sample] = fc.sample(arbitrary.vertex(network), { numRuns: 1, seed: 1 })
const [transaction] = fc.sample(arbitrary.transaction(network), { numRuns: 1, seed: 1 })
const [heartbeat] = fc.sample(arbitrary.heartbeat, { numRuns: 1, seed: 1 })
const [evidence] = fc.sample(arbitrary.evidence, { numRuns: 1, seed: 1 })
if (!sample || !transaction || !heartbeat || !evidence) throw new Error("no sample")

const vertexOf = (body: Vertex.Body): Vertex.Vertex =>
  Vertex.make(
    Header.make({ ...sample.header, bodyHash: Vertex.bodyHash(body) }, () => sample.header.signature),
    body,
  )

const reasonOf = (bytes: Uint8Array): string => Option.getOrThrow(Either.getLeft(Vertex.decode(network, bytes))).reason

const times = <A>(count: number, value: A): ReadonlyArray<A> => new Array<A>(count).fill(value)

describe("the body of a vertex", () => {
  const hasOneEncoding = (mutated: number): void => {
    const bodies = fc.sample(arbitrary.vertex(network, 1), { numRuns: 50, seed: 2 }).map(({ header, encoded }) => {
      return encoded.subarray(Header.encode(header).length)
    })
    let accepted = 0
    for (const bytes of hostileInputs(bodies, mutated)) {
      const header = Header.make(
        { ...sample.header, bodyHash: Hash.of("udg/body", bytes) },
        () => sample.header.signature,
      )
      const encoded = new Uint8Array(Buffer.concat([Header.encode(header), bytes]))
      const decoded = Vertex.decode(network, encoded)
      if (Either.isLeft(decoded)) continue
      accepted++
      expect(Buffer.from(Vertex.make(header, decoded.right.body).encoded).equals(encoded)).toBe(true)
    }
    expect(accepted).toBeGreaterThan(mutated / 20)
  }

  const NAME =
    "has one encoding: mutated bodies that still decode, under headers that commit to them, encode as they came"
  it(NAME, () => hasOneEncoding(2_000))
  it(Rest.of("more bodies", NAME), () => hasOneEncoding(20_000))
})

describe("a vertex", () => {
  it("is signed once, for its header and its body together", () => {
    const [key] = fc.sample(arbitrary.secretKey, 1)
    if (key === undefined) throw new Error("no sample")
    const body = { ...Vertex.emptyBody, heartbeats: [heartbeat] }
    const vertex = Vertex.sign(sample.header, body, key)
    expect(Verification.isValid(Header.check(vertex.header))).toBe(true)
    expect(vertex.header.bodyHash).toBe(Vertex.bodyHash(body))
    expect(Either.getOrThrow(Vertex.decode(network, vertex.encoded))).toStrictEqual(vertex)
  })

  it("is refused with another body than the one its header commits to", () => {
    const swapped = Vertex.make(sample.header, { ...Vertex.emptyBody, heartbeats: [heartbeat, heartbeat] })
    expect(reasonOf(swapped.encoded)).toBe("the body is not the one the header commits to")
  })

  it("belongs to one network: elsewhere its transactions have other ids", () => {
    const vertex = vertexOf({ ...Vertex.emptyBody, transactions: [transaction] })
    const elsewhere = Either.getOrThrow(Vertex.decode("udg-other" as NetworkId, vertex.encoded))
    expect(elsewhere.body.transactions[0]?.id).not.toBe(transaction.id)
    expect(elsewhere.header).toStrictEqual(vertex.header)
  })

  it("holds as much as the limits allow and not one more", () => {
    const most: Vertex.Body = {
      transactions: [],
      evidence: times(Limits.VERTEX_EVIDENCE, evidence),
      heartbeats: times(Limits.VERTEX_HEARTBEATS, heartbeat),
    }
    expect(Either.isRight(Vertex.decode(network, vertexOf(most).encoded))).toBe(true)
    const oneMore: ReadonlyArray<[Vertex.Body, string]> = [
      [{ ...most, evidence: times(17, evidence) }, "list of 17, at most 16 allowed"],
      [{ ...most, heartbeats: times(101, heartbeat) }, "list of 101, at most 100 allowed"],
      [{ ...Vertex.emptyBody, transactions: times(5_001, transaction) }, "list of 5001, at most 5000 allowed"],
    ]
    for (const [body, reason] of oneMore) expect(reasonOf(vertexOf(body).encoded)).toBe(reason)
  })

  it("is at most 1 MiB on the wire, and nothing of a larger one is read", () => {
    const proposal = Transaction.make(
      network,
      {
        ...transaction,
        operation: {
          _tag: "CreateProposalTx",
          title: "t",
          description: "d".repeat(Limits.DESCRIPTION_BYTES),
          payload: { _tag: "Text" },
        },
      },
      { _tag: "SingleKey", publicKey: heartbeat.publicKey, signature: heartbeat.signature },
    )
    const fitting = Math.floor((Limits.VERTEX_BYTES - 20_000) / proposal.encoded.length)
    const fits = vertexOf({ ...Vertex.emptyBody, transactions: times(fitting, proposal) })
    expect(fits.encoded.length).toBeLessThanOrEqual(Limits.VERTEX_BYTES)
    expect(Either.isRight(Vertex.decode(network, fits.encoded))).toBe(true)
    const tooLarge = vertexOf({ ...Vertex.emptyBody, transactions: times(fitting + 6, proposal) })
    expect(tooLarge.encoded.length).toBeGreaterThan(Limits.VERTEX_BYTES)
    expect(reasonOf(tooLarge.encoded)).toBe(`${tooLarge.encoded.length} bytes, at most 1048576 allowed`)
    const headerIn = (size: number) => {
      const bytes = new Uint8Array(size)
      bytes.set(sample.encoded)
      return Vertex.decodeHeader(bytes)
    }
    expect(headerIn(1_048_576)).toStrictEqual(Either.right(sample.header))
    expect(Option.getOrThrow(Either.getLeft(headerIn(1_048_577))).message).toBe(
      "vertex: 1048577 bytes, at most 1048576 allowed at byte 0",
    )
  })

  it("contains its transactions contiguously", () => {
    fc.assert(
      fc.property(arbitrary.vertex(network), (vertex) => {
        const { at, size } = Vertex.transactionsIn(vertex)
        const expected = Buffer.concat(vertex.body.transactions.map(({ encoded }) => encoded))
        expect(Buffer.from(vertex.encoded.subarray(at, at + size)).equals(expected)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  it("can be identified from its header alone, and not from less", () => {
    const { header } = sample
    const parents = Array.from({ length: Header.MAX_PARENTS }, (_, i) => ({
      round: Natural.round(i),
      author: header.author,
      hash: header.hash,
    }))
    const most = Vertex.make(
      Header.make({ ...header, parents }, () => header.signature),
      { ...Vertex.emptyBody, transactions: times(300, transaction) },
    )
    expect(Vertex.decodeHead(most.encoded.subarray(0, Vertex.HEAD_BYTES))).toStrictEqual(
      Either.right({ header: most.header, transactionCount: 300 }),
    )
    const { at } = Vertex.transactionsIn(most)
    const cut = Vertex.decodeHead(most.encoded.subarray(0, at - 1))
    expect(Option.getOrThrow(Either.getLeft(cut)).message).toBe(`vertex: expected 2 bytes, 1 left at byte ${at - 2}`)
  })
})
