import { expect, it } from "vitest"
import * as Message from "../../src/protocol/identity/Message.js"

it("a text is signed with its own domain prefix", () => {
  expect(Buffer.from(Message.signedBytes("é"))).toEqual(Buffer.from("udg/message\0é"))
})
