/**
 * The client side of TLS 1.3 (RFC 8446) with a pre-shared key, as far as the wire uses it, for what no library does:
 * key updates in every record, and invalid records.
 */
import * as crypto from "node:crypto"
import { once } from "node:events"
import type { Socket } from "node:net"

const HASH = "sha256"
const HASH_BYTES = 32
const TAG_BYTES = 16
const HEAD_BYTES = 5
const NOTHING = Buffer.alloc(0)
const ZEROS = Buffer.alloc(HASH_BYTES)

export const TYPE = { handshake: 22, data: 23 } as const

const hash = (bytes: Buffer): Buffer => crypto.createHash(HASH).update(bytes).digest()
const hmac = (key: Buffer, bytes: Buffer): Buffer => crypto.createHmac(HASH, key).update(bytes).digest()
const u16 = (number: number): Buffer => Buffer.from([number >> 8, number & 255])
const short = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([bytes.length]), bytes])
const long = (bytes: Buffer): Buffer => Buffer.concat([u16(bytes.length), bytes])
const message = (kind: number, body: Buffer): Buffer => Buffer.concat([Buffer.from([kind, 0]), long(body)])
const extension = (kind: number, body: Buffer): Buffer => Buffer.concat([u16(kind), long(body)])

/** HKDF-Expand-Label; one block of the hash is enough for all lengths here. */
const expand = (secret: Buffer, label: string, context: Buffer, length: number): Buffer => {
  const info = Buffer.concat([u16(length), short(Buffer.from(`tls13 ${label}`)), short(context), Buffer.from([1])])
  return hmac(secret, info).subarray(0, length)
}
const derive = (secret: Buffer, label: string, transcript: Buffer): Buffer =>
  expand(secret, label, hash(transcript), HASH_BYTES)
const finished = (secret: Buffer, transcript: Buffer): Buffer =>
  hmac(expand(secret, "finished", NOTHING, HASH_BYTES), hash(transcript))

/** The keys of one direction. */
class Keys {
  #secret: Buffer
  #key: Buffer = NOTHING
  #iv: Buffer = NOTHING
  #count = 0

  constructor(secret: Buffer) {
    this.#secret = secret
    this.#use()
  }

  #use(): void {
    this.#key = expand(this.#secret, "key", NOTHING, 16)
    this.#iv = expand(this.#secret, "iv", NOTHING, 12)
    this.#count = 0
  }

  update(): void {
    this.#secret = expand(this.#secret, "traffic upd", NOTHING, HASH_BYTES)
    this.#use()
  }

  #nonce(): Buffer {
    const nonce = Buffer.from(this.#iv)
    nonce.writeUInt32BE((nonce.readUInt32BE(8) ^ this.#count++) >>> 0, 8)
    return nonce
  }

  seal(type: number, bytes: Uint8Array): Buffer {
    const head = Buffer.concat([Buffer.from([TYPE.data, 3, 3]), u16(bytes.length + 1 + TAG_BYTES)])
    const cipher = crypto.createCipheriv("aes-128-gcm", this.#key, this.#nonce()).setAAD(head)
    const inner = [cipher.update(bytes), cipher.update(Buffer.from([type])), cipher.final()]
    return Buffer.concat([head, ...inner, cipher.getAuthTag()])
  }

  open(record: Buffer): Buffer {
    const head = record.subarray(0, HEAD_BYTES)
    const decipher = crypto.createDecipheriv("aes-128-gcm", this.#key, this.#nonce()).setAAD(head)
    decipher.setAuthTag(record.subarray(-TAG_BYTES))
    const inner = Buffer.concat([decipher.update(record.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()])
    return inner.subarray(0, -1)
  }
}

export interface Shared {
  readonly identity: string
  readonly psk: Buffer
  readonly protocol: string
}

const hello = (publicKey: Buffer, { identity, psk, protocol }: Shared) => {
  const early = hmac(ZEROS, psk)
  const extensions = Buffer.concat([
    extension(43, short(u16(0x0304))),
    extension(10, long(u16(0x001d))),
    extension(13, long(u16(0x0403))),
    extension(51, long(Buffer.concat([u16(0x001d), long(publicKey)]))),
    extension(45, short(Buffer.from([1]))),
    extension(16, long(short(Buffer.from(protocol)))),
  ])
  const identities = long(Buffer.concat([long(Buffer.from(identity)), Buffer.alloc(4)]))
  const body = (binder: Buffer): Buffer => {
    const shared = extension(41, Buffer.concat([identities, long(short(binder))]))
    const random = crypto.randomBytes(HASH_BYTES)
    const start = [u16(0x0303), random, short(NOTHING), long(u16(0x1301)), short(Buffer.from([0]))]
    return message(1, Buffer.concat([...start, long(Buffer.concat([extensions, shared]))]))
  }
  const unbound = body(ZEROS)
  const bound = unbound.subarray(0, -HASH_BYTES - 3)
  const binder = finished(derive(early, "ext binder", NOTHING), bound)
  return { early, bytes: Buffer.concat([unbound.subarray(0, -HASH_BYTES), binder]) }
}

/** The listener's half of the key exchange, in the list of its extensions. */
const shareOf = (serverHello: Buffer): Buffer => {
  // Kind and length, version, random, session, cipher, compression, length of the extensions.
  for (let at = 4 + 2 + 32 + 1 + (serverHello[38] ?? 0) + 2 + 1 + 2; at < serverHello.length; ) {
    const [kind, length] = [serverHello.readUInt16BE(at), serverHello.readUInt16BE(at + 2)]
    if (kind === 51) return serverHello.subarray(at + 8, at + 4 + length)
    at += 4 + length
  }
  throw new Error("no key share")
}

const spki = (raw: Buffer): crypto.KeyObject =>
  crypto.createPublicKey({
    key: Buffer.concat([Buffer.from("302a300506032b656e032100", "hex"), raw]),
    format: "der",
    type: "spki",
  })

export class RawTls {
  readonly socket: Socket
  readonly #keys: Keys
  readonly #exporter: Buffer

  private constructor(socket: Socket, keys: Keys, exporter: Buffer) {
    this.socket = socket
    this.#keys = keys
    this.#exporter = exporter
  }

  /** Over a connected socket. Fails if the other side closes. Discards what arrives later. */
  static async shake(socket: Socket, shared: Shared): Promise<RawTls> {
    let read = NOTHING
    const record = async (): Promise<Buffer> => {
      for (;;) {
        const end = HEAD_BYTES + (read.length < HEAD_BYTES ? 0 : read.readUInt16BE(3))
        if (read.length > HEAD_BYTES && read.length >= end) {
          const first = read.subarray(0, end)
          read = read.subarray(end)
          // Compatibility with middleboxes.
          if (first[0] !== 20) return first
          continue
        }
        const more = socket.read() as Buffer | null
        if (more !== null) read = Buffer.concat([read, more])
        else if (socket.destroyed || socket.readableEnded) throw new Error("it closed the connection")
        else await Promise.race([once(socket, "readable"), once(socket, "close")])
      }
    }
    const own = crypto.generateKeyPairSync("x25519")
    const { early, bytes } = hello(own.publicKey.export({ format: "der", type: "spki" }).subarray(-32), shared)
    socket.write(Buffer.concat([Buffer.from([TYPE.handshake, 3, 1]), long(bytes)]))
    const serverHello = (await record()).subarray(HEAD_BYTES)
    let transcript = Buffer.concat([bytes, serverHello])
    const agreed = crypto.diffieHellman({ privateKey: own.privateKey, publicKey: spki(shareOf(serverHello)) })
    const handshake = hmac(derive(early, "derived", NOTHING), agreed)
    const clientSecret = derive(handshake, "c hs traffic", transcript)
    const server = new Keys(derive(handshake, "s hs traffic", transcript))
    // Its extensions, then its proof of the shared key, which everybody has.
    for (let isOver = false; !isOver; ) {
      const inner = server.open(await record())
      transcript = Buffer.concat([transcript, inner])
      isOver = inner.at(-HASH_BYTES - 4) === 20
    }
    const master = hmac(derive(handshake, "derived", NOTHING), ZEROS)
    socket.write(new Keys(clientSecret).seal(TYPE.handshake, message(20, finished(clientSecret, transcript))))
    socket.on("readable", () => socket.read()).on("error", () => {})
    return new RawTls(
      socket,
      new Keys(derive(master, "c ap traffic", transcript)),
      derive(master, "exp master", transcript),
    )
  }

  /** What `exportKeyingMaterial` returns without a context. */
  exported(label: string, length: number): Buffer {
    return expand(derive(this.#exporter, label, NOTHING), "exporter", hash(NOTHING), length)
  }

  data(bytes: Uint8Array): Buffer {
    return this.#keys.seal(TYPE.data, bytes)
  }

  /** New keys, optionally with a request for the other side to update, too. */
  update(asks: boolean): Buffer {
    const record = this.#keys.seal(TYPE.handshake, message(24, Buffer.from([asks ? 1 : 0])))
    this.#keys.update()
    return record
  }
}
