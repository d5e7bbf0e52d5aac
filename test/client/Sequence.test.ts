import { expect, it } from "vitest"
import { type Draft, Sequence } from "../../src/client/Sequence.js"
import { InvalidInput, RequestRefused } from "../../src/client/wire/Failures.js"
import type { Transaction } from "../../src/client/wire/Interface.js"

const never = new AbortController().signal
const draft: Draft = {
  fee: 10,
  mostFee: 20,
  sign: (nonce, fee) => ({ transaction: { nonce, fee } as Transaction, hash: `${nonce} ${fee}` as never }),
}

/** A simulated node that answers early requests later than others, and the fees of the transactions it accepted. */
const door = (refusals: ReadonlyArray<string> = []) => {
  const left = [...refusals]
  const taken: Array<readonly [nonce: number, fee: number | undefined]> = []
  let busy = 0
  return {
    taken,
    nextNonce: async () => taken.length,
    knows: async () => false,
    submit: async ({ nonce, fee }: Transaction) => {
      expect(busy++).toBe(0)
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, 5 - taken.length)))
      busy--
      const code = left.shift()
      if (code !== undefined) throw new RequestRefused({ _tag: code, message: code } as never)
      taken.push([nonce, fee])
      return "" as never
    },
  }
}

it("sends one after the other, even if some fail", async () => {
  const node = door()
  const sequence = new Sequence(node)
  const results = await Promise.allSettled([
    sequence.send(Promise.resolve(draft), never),
    sequence.send(Promise.reject(new InvalidInput("no draft")), never),
    sequence.send(Promise.resolve(draft), never),
    sequence.send(Promise.reject(new InvalidInput("no draft")), never),
    sequence.send(Promise.resolve(draft), never),
  ])
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"])
  expect(node.taken.map(([nonce]) => nonce)).toEqual([0, 1, 2])
})

it("keeps offering while the mempool is full, and uses another nonce when its own was taken", async () => {
  const node = door(["MempoolFull", "NonceTooLow", "MempoolFull"])
  expect(await new Sequence(node).send(Promise.resolve(draft), never)).toMatchObject({ nonce: 0, fee: 20 })
})

it("gives up at a refusal that another nonce would not change, and continues with the next", async () => {
  const node = door(["InsufficientBalance"])
  const sequence = new Sequence(node)
  await expect(sequence.send(Promise.resolve(draft), never)).rejects.toMatchObject({ code: "InsufficientBalance" })
  expect(await sequence.send(Promise.resolve(draft), never)).toMatchObject({ nonce: 0, fee: 10 })
})

it("retries after a pause, and trusts a node that is behind only once it stays behind", async () => {
  const node = door()
  const told: Array<number> = []
  let asked = 0
  const sequence = new Sequence({ ...node, nextNonce: async () => told[Math.min(asked++, told.length - 1)] ?? 0 })
  const send = async () => (await sequence.send(Promise.resolve(draft), never)).nonce
  expect([await send(), await send(), asked]).toEqual([0, 1, 1])
  told.push(0, 1, 2)
  asked = 0
  sequence.pause()
  expect([await send(), await send(), asked]).toEqual([2, 3, 3])
  told.push(7)
  sequence.pause()
  expect([await send(), await send(), asked]).toEqual([7, 8, 4])
  told.splice(0, told.length, 3)
  sequence.pause()
  expect([await send(), await send()]).toEqual([3, 4])
})
