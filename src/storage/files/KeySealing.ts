/** Encrypts and decrypts key files with Node.js' cryptography, on a thread of its pool. */
import { createCipheriv, createDecipheriv, scrypt } from "node:crypto"
import { Effect, Option } from "effect"
import { fromHex, randomBytes, toHex } from "#crypto"
import * as Keys from "../../protocol/identity/Keys.js"
import * as SealedKey from "../../protocol/identity/SealedKey.js"

const derive = (passphrase: string, { n, r, p, salt }: SealedKey.Sealed["kdf"]): Effect.Effect<Uint8Array> =>
  Effect.async((resume) => {
    const options = { N: n, r, p, maxmem: 2 * n * 128 * r }
    scrypt(SealedKey.normal(passphrase), fromHex(salt), SealedKey.KEY_BYTES, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error)),
    )
  })

const drawn = (bytes: number): string => toHex(randomBytes(bytes))

export const seal = (key: Keys.SecretKey, passphrase: string, cost = SealedKey.COST): Effect.Effect<SealedKey.Sealed> =>
  Effect.gen(function* () {
    const fresh = { salt: drawn(SealedKey.SALT_BYTES), nonce: drawn(SealedKey.NONCE_BYTES) }
    const header = SealedKey.header(key.publicKey, cost, fresh)
    const cipher = createCipheriv("aes-256-gcm", yield* derive(passphrase, header.kdf), fromHex(header.cipher.nonce))
    cipher.setAAD(SealedKey.authenticated(header))
    const content = [cipher.update(fromHex(key.toSecretHex())), cipher.final(), cipher.getAuthTag()]
    return { ...header, content: toHex(Buffer.concat(content)) }
  })

const decrypt = (sealed: SealedKey.Sealed, key: Uint8Array): Option.Option<Uint8Array> => {
  const content = fromHex(sealed.content)
  const decipher = createDecipheriv("aes-256-gcm", key, fromHex(sealed.cipher.nonce), {
    authTagLength: SealedKey.TAG_BYTES,
  })
  decipher.setAAD(SealedKey.authenticated(sealed)).setAuthTag(content.subarray(Keys.SEED_BYTES))
  try {
    return Option.some(Buffer.concat([decipher.update(content.subarray(0, Keys.SEED_BYTES)), decipher.final()]))
  } catch {
    // A wrong passphrase and a modified file fail in the same way.
    return Option.none()
  }
}

/** None if the passphrase is wrong or the content was modified. */
export const open = (sealed: SealedKey.Sealed, passphrase: string): Effect.Effect<Option.Option<Keys.SecretKey>> =>
  Effect.map(derive(passphrase, sealed.kdf), (key) =>
    Option.filter(
      Option.flatMap(decrypt(sealed, key), Keys.SecretKey.fromSeed),
      ({ publicKey }) => publicKey === sealed.public_key,
    ),
  )

export const WRONG = "the passphrase is wrong, or the file was modified"
