import { FastCheck as fc } from "effect"
import { expect, it, vi } from "vitest"
import * as Native from "../../../src/protocol/crypto/Native.js"

// Node 20.12 added `crypto.hash`; other runtimes that claim to be Node may lack it.
it("hashes alike where the runtime has no one-shot hash", async () => {
  vi.resetModules()
  vi.doMock("node:crypto", async (original) => ({ ...(await original<object>()), hash: undefined }))
  const { sha256Hex } = await import("../../../src/protocol/crypto/Native.js")
  expect(sha256Hex).not.toBe(Native.sha256Hex)
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      expect(sha256Hex(bytes)).toBe(Native.sha256Hex(bytes))
    }),
  )
  vi.doUnmock("node:crypto")
})
