import { expect, it } from "vitest"
import { Volume } from "../../src/network/Volume.js"

it("adds up messages and bytes by direction, kind and standing", () => {
  const volume = new Volume()
  volume.received("Vertices", "member", 100)
  volume.received("Vertices", "member", 50)
  volume.received("Vertices", "stranger", 7)
  volume.sent("Transactions", "named", 9)
  expect(volume.amounts).toEqual([
    { direction: "received", kind: "Vertices", of: "member", messages: 2, bytes: 150 },
    { direction: "received", kind: "Vertices", of: "stranger", messages: 1, bytes: 7 },
    { direction: "sent", kind: "Transactions", of: "named", messages: 1, bytes: 9 },
  ])
})
