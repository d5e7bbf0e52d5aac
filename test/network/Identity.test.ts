/** Handshakes of peers that name a key which is none of a node. */

import { randomBytes } from "node:crypto"
import { noise } from "@chainsafe/libp2p-noise"
import { yamux } from "@chainsafe/libp2p-yamux"
import { generateKeyPair } from "@libp2p/crypto/keys"
import type { ConnectionEncrypter, PrivateKey } from "@libp2p/interface"
import { tcp } from "@libp2p/tcp"
import { multiaddr } from "@multiformats/multiaddr"
import { createLibp2p } from "libp2p"
import { afterEach, describe, expect, it } from "vitest"
import * as Identity from "../../src/network/libp2p/Identity.js"
import { Libp2pWire } from "../../src/network/libp2p/Libp2pWire.js"
import { keyOf } from "../../src/network/libp2p/Transport.js"
import { openPolicy } from "./OpenPolicy.js"

const closing: Array<() => unknown> = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const node = async () => {
  const opened: Array<string> = []
  const wire = new Libp2pWire({ seed: randomBytes(32), listen: "/ip4/127.0.0.1/tcp/0", agent: "test" })
  await wire.start({ ...openPolicy(), opened: ({ peer }) => opened.push(peer) })
  closing.push(() => wire.stop())
  return { target: wire.addresses[0] ?? "", opened }
}

/** Dials with this key in the handshake, until the other side has decided. */
const dialWith = async (key: PrivateKey, { target, opened }: Awaited<ReturnType<typeof node>>): Promise<void> => {
  const encrypter = (components: Parameters<ReturnType<typeof noise>>[0]): ConnectionEncrypter =>
    noise()({
      privateKey: key,
      peerId: components.peerId,
      logger: components.logger,
      // Not there yet.
      get upgrader() {
        return components.upgrader
      },
    })
  const libp2p = await createLibp2p({
    start: false,
    privateKey: keyOf(randomBytes(32)),
    addresses: { listen: [] },
    transports: [tcp()],
    connectionEncrypters: [encrypter],
    streamMuxers: [yamux()],
    connectionManager: { reconnectRetries: 0 },
  })
  await libp2p.start()
  closing.push(() => libp2p.stop())
  const connection = await libp2p.dial(multiaddr(target), { signal: AbortSignal.timeout(20_000) }).catch(() => null)
  // Who dials speaks last, and learns of a refusal by the end of the connection.
  const isUndecided = () => connection?.status === "open" && opened.length === 0
  while (isUndecided()) await new Promise((go) => setTimeout(go, 10))
}

/** An RSA key whose modulus is announced with this length in DER, and of which nothing follows. */
const announced = (bytes: number): PrivateKey => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes)
  const modulus = Buffer.concat([Uint8Array.of(0x02, 0x84), length])
  const raw = Buffer.concat([Uint8Array.of(0x30, 0, 0x04, 0, 0x03, modulus.length + 1, 0), modulus])
  const publicKey = { type: "RSA", raw }
  return { type: "RSA", publicKey, raw, sign: () => randomBytes(64) } as unknown as PrivateKey
}

/** The longest that this process did nothing else, meanwhile. */
const longestStandstillMs = async (act: () => Promise<unknown>): Promise<number> => {
  let [at, longest] = [performance.now(), 0]
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - at)
    at = performance.now()
  }, 5)
  await act()
  clearInterval(timer)
  return Math.max(longest, performance.now() - at)
}

describe("a handshake", () => {
  it("with an RSA key that says it has millions of bytes is refused without reading them", async () => {
    const answering = await node()
    const standstillMs = await longestStandstillMs(() => dialWith(announced(2 ** 26), answering))
    expect(answering.opened).toEqual([])
    expect(standstillMs).toBeLessThan(2_000)
  })

  it.each([
    ["RSA", () => generateKeyPair("RSA", 2_048)],
    ["secp256k1", () => generateKeyPair("secp256k1")],
    ["ECDSA", () => generateKeyPair("ECDSA")],
  ] as const)("with a good %s key is refused", async (_, make) => {
    const answering = await node()
    await dialWith((await make()) as unknown as PrivateKey, answering)
    expect(answering.opened).toEqual([])
  })

  it("with an Ed25519 key is accepted", async () => {
    const answering = await node()
    await dialWith(keyOf(randomBytes(32)), answering)
    expect(answering.opened).toHaveLength(1)
  })
})

describe("what a peer says of itself", () => {
  const key = Uint8Array.of(0x0a, 36, 0x08, 1, 0x12, 32, ...randomBytes(32))
  const signature = Uint8Array.of(0x12, 64, ...randomBytes(64))
  const extensions = Uint8Array.of(0x22, 3, 0x12, 1, 0x61)
  const joined = (...parts: ReadonlyArray<Uint8Array>) => Buffer.concat(parts)

  it("is its key and its signature, and extensions if there are any", () => {
    for (const good of [joined(key, signature), joined(key, signature, extensions)]) {
      expect(() => Identity.inspect(good)).not.toThrow()
    }
  })

  it("is nothing else: a later key would take the place of the first", () => {
    const secp256k1 = Uint8Array.of(0x0a, 37, 0x08, 2, 0x12, 33, ...randomBytes(33))
    for (const bad of [
      joined(),
      joined(key),
      joined(secp256k1, signature),
      joined(key, signature, secp256k1),
      joined(key, signature, extensions, secp256k1),
      joined(key, signature, extensions, Uint8Array.of(0)),
      joined(key, signature, extensions.subarray(0, 4)),
    ]) {
      expect(() => Identity.inspect(bad)).toThrow(Identity.NoNode)
    }
  })
})
