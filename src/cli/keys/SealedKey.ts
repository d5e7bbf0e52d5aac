/**
 * A secret key at rest, as `client/KeyFile.ts` defines it, with the cryptography of Node, which takes half as long. The two open
 * each other's files.
 */
import { createCipheriv, createDecipheriv, scrypt } from "node:crypto"
import { Effect, Option } from "effect"
import { fromHex, toHex } from "#crypto"
import * as KeyFile from "../../client/KeyFile.js"
import * as Keys from "../../protocol/identity/Keys.js"
import { fail, type WalletFailure } from "./WalletFailure.js"

export type Sealed = KeyFile.Sealed
export const { parse, print } = KeyFile

const derive = (passphrase: string, { n, r, p, salt }: Sealed["kdf"]): Effect.Effect<Uint8Array> =>
  Effect.async((resume) => {
    const options = { N: n, r, p, maxmem: 2 * n * 128 * r }
    scrypt(KeyFile.normal(passphrase), fromHex(salt), KeyFile.KEY_BYTES, options, (error, key) =>
      resume(error === null ? Effect.succeed(key) : Effect.die(error)),
    )
  })

export const seal = (key: Keys.SecretKey, passphrase: string, cost = KeyFile.COST): Effect.Effect<Sealed> =>
  Effect.gen(function* () {
    const header = KeyFile.header(key.publicKey, cost)
    const cipher = createCipheriv("aes-256-gcm", yield* derive(passphrase, header.kdf), fromHex(header.cipher.nonce))
    cipher.setAAD(KeyFile.authenticated(header))
    const content = [cipher.update(fromHex(key.toSecretHex())), cipher.final(), cipher.getAuthTag()]
    return { ...header, content: toHex(Buffer.concat(content)) }
  })

const decrypt = (sealed: Sealed, key: Uint8Array): Option.Option<Uint8Array> => {
  const content = fromHex(sealed.content)
  const decipher = createDecipheriv("aes-256-gcm", key, fromHex(sealed.cipher.nonce), {
    authTagLength: KeyFile.TAG_BYTES,
  })
  decipher.setAAD(KeyFile.authenticated(sealed)).setAuthTag(content.subarray(Keys.SEED_BYTES))
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
