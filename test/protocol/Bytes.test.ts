import { expect, it } from "vitest"
import * as Bytes from "../../src/protocol/encoding/Bytes.js"

it("joins pieces in order", () => {
  const pieces = [Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3), Uint8Array.of(4)]
  expect([...Bytes.joined(pieces, 4)]).toEqual([1, 2, 3, 4])
  expect(Bytes.joined([], 0)).toHaveLength(0)
})
