import { describe, expect, it } from "vitest"
import { SecondOpinion } from "../../src/node/SecondOpinion.js"
import * as Keys from "../../src/protocol/Keys.js"
import { type Check, isValidAtDoor } from "../../src/protocol/Verification.js"
import { zip215 } from "../protocol/crypto/published.js"

const key = Keys.SecretKey.generate()

const odd: ReadonlyArray<Check> = zip215.map(({ message, publicKey, signature }) => ({
  message: Buffer.from(message, "hex"),
  publicKey: publicKey as Keys.PublicKey,
  signature: signature as Keys.Signature,
}))

const falseOne: Check = { message: Uint8Array.of(1), publicKey: key.publicKey, signature: key.sign(Uint8Array.of(2)) }

describe("a second opinion", () => {
  it("takes by ZIP-215 what the native verifier refuses, and nothing false", async () => {
    const opinion = new SecondOpinion()
    const asked = (checks: ReadonlyArray<Check>) => new Promise((resolve) => opinion.ask("ben", checks, resolve))
    expect(odd.some((check) => !isValidAtDoor(check))).toBe(true)
    expect(await asked(odd)).toBe(true)
    expect(await asked([...odd, falseOne])).toBe(false)
    expect(await asked([falseOne])).toBe(false)
  })

  it("gives those who cause it fair turns, and leaves most of the time to everybody else", async () => {
    const opinion = new SecondOpinion()
    const refused = odd.filter((check) => !isValidAtDoor(check))
    const many = Array.from({ length: 20 }, () => refused).flat()
    const began = performance.now()
    let busyMs = 0
    let last = performance.now()
    const order: Array<string> = []
    const beat = setInterval(() => {
      // What is late was kept waiting by somebody.
      busyMs += Math.max(0, performance.now() - last - 1)
      last = performance.now()
    }, 1)
    await new Promise<void>((resolve) => {
      opinion.ask("flood", many, () => {
        order.push("flood")
        resolve()
      })
      opinion.ask("ben", refused.slice(0, 2), () => order.push("ben"))
    })
    clearInterval(beat)
    expect(order).toEqual(["ben", "flood"])
    expect(busyMs / (performance.now() - began)).toBeLessThan(0.6)
  })
})
