/**
 * A secret key at rest: encrypted with AES-256-GCM under a key that scrypt derives from the passphrase. The fields beside
 * the ciphertext are authenticated with it, so a modified file does not open.
 */
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto"
import { Effect, Either, Option, Schema } from "effect"
import { fromHex, toHex } from "#crypto"
import * as Binary from "../../protocol/encoding/Binary.js"
import * as Hex from "../../protocol/encoding/Hex.js"
import * as Keys from "../../protocol/identity/Keys.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

const KEY_BYTES = 32
const SALT_BYTES = 16
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** About half a second and 128 MiB per guess, as OWASP recommends for scrypt. */
const COST = 2 ** 17
const LOWEST_COST = 2 ** 14
/** Keeps a file from exhausting this machine's memory. */
const HIGHEST_COST = 2 ** 20
const BLOCK_SIZE = 8
const MEMORY_PER_COST = 128 * BLOCK_SIZE

const bytes = (count: number) => Hex.schema<string>("Bytes", count, `${count} bytes`)

const Cost = Schema.Int.pipe(
  Schema.between(LOWEST_COST, HIGHEST_COST),
  Schema.filter((cost) => (cost & (cost - 1)) === 0),
)

export const Sealed = Schema.Struct({
  udg_key: Schema.Literal(1),
  public_key: Keys.PublicKey,
  kdf: Schema.Struct({
    name: Schema.Literal("scrypt"),
    n: Cost,
    r: Schema.Literal(BLOCK_SIZE),
    p: Schema.Literal(1),
    salt: bytes(SALT_BYTES),
  }),
  cipher: Schema.Struct({ name: Schema.Literal("aes-256-gcm"), nonce: bytes(NONCE_BYTES) }),
  content: bytes(Keys.SEED_BYTES + TAG_BYTES),
})
export type Sealed = typeof Sealed.Type

const decode = Schema.decodeUnknownEither(Schema.parseJson(Sealed), { onExcessProperty: "error" })

/** The content of a key file; none for any other text. */
export const parse = (text: string): Option.Option<Sealed> => Either.getRight(decode(text))

export const print = (sealed: Sealed): string => `${JSON.stringify(sealed, null, 2)}\n`

type Header = Omit<Sealed, "content">

/** Everything but the ciphertext, in one form. */
const authenticated = ({ public_key, kdf, cipher }: Header): Uint8Array =>
  Binary.utf8(`udg/key\0${[public_key, kdf.name, kdf.n, kdf.r, kdf.p, kdf.salt, cipher.name, cipher.nonce].join(" ")}`)

const derive = (passphrase: string, { n, r, p, salt }: Sealed["kdf"]): Effect.Effect<Uint8Array> =>
  Effect.async((resume) => {
    const options = { N: n, r, p, maxmem: 2 * n * MEMORY_PER_COST }
    // Another keyboard may produce the same passphrase as different code points.
    scrypt(passphrase.normalize("NFKC"), fromHex(salt), KEY_BYTES, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error)),
    )
  })

export const seal = (key: Keys.SecretKey, passphrase: string, cost = COST): Effect.Effect<Sealed> =>
  Effect.gen(function* () {
    const header: Header = {
      udg_key: 1,
      public_key: key.publicKey,
      kdf: { name: "scrypt", n: cost, r: BLOCK_SIZE, p: 1, salt: toHex(randomBytes(SALT_BYTES)) },
      cipher: { name: "aes-256-gcm", nonce: toHex(randomBytes(NONCE_BYTES)) },
    }
    const cipher = createCipheriv("aes-256-gcm", yield* derive(passphrase, header.kdf), fromHex(header.cipher.nonce))
    cipher.setAAD(authenticated(header))
    const content = [cipher.update(fromHex(key.toSecretHex())), cipher.final(), cipher.getAuthTag()]
    return { ...header, content: toHex(Buffer.concat(content)) }
  })

const decrypt = (sealed: Sealed, key: Uint8Array): Option.Option<Uint8Array> => {
  const content = fromHex(sealed.content)
  const decipher = createDecipheriv("aes-256-gcm", key, fromHex(sealed.cipher.nonce), { authTagLength: TAG_BYTES })
  decipher.setAAD(authenticated(sealed)).setAuthTag(content.subarray(Keys.SEED_BYTES))
  try {
    return Option.some(Buffer.concat([decipher.update(content.subarray(0, Keys.SEED_BYTES)), decipher.final()]))
  } catch {
    // A wrong passphrase and a modified file fail in the same way.
    return Option.none()
  }
}

export const open = (sealed: Sealed, passphrase: string): Effect.Effect<Keys.SecretKey, WalletFailure> =>
  Effect.gen(function* () {
    const seed = decrypt(sealed, yield* derive(passphrase, sealed.kdf))
    const key = Option.filter(
      Option.flatMap(seed, Keys.SecretKey.fromSeed),
      (found) => found.publicKey === sealed.public_key,
    )
    return yield* Option.match(key, {
      onNone: () => fail("key", "the passphrase is wrong, or the file was modified"),
      onSome: Effect.succeed,
    })
  })
