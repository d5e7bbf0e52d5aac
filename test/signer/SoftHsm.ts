/** A PKCS#11 token of SoftHSM with a validator's key. */
import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

export const MODULE = "/usr/lib/softhsm/libsofthsm2.so"
export const PIN = "4938271"
const SECURITY_OFFICER = "82736455"
const program = resolve(import.meta.dirname, "../../ops/pkcs11/udg-pkcs11.py")

export interface SoftHsm {
  /** What a process needs to find the token. */
  readonly environment: { readonly SOFTHSM2_CONF: string }
  /** Runs the program for the key with that label. */
  readonly command: (key: string, token?: string, pin?: string) => string
}

/** Makes a token with a key pair labelled "validator" in the directory. */
export const make = (directory: string): SoftHsm => {
  const tokens = join(directory, "tokens")
  const environment = { SOFTHSM2_CONF: join(directory, "softhsm2.conf") }
  mkdirSync(tokens)
  writeFileSync(
    environment.SOFTHSM2_CONF,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  )
  const run = (name: string, ...words: ReadonlyArray<string>): void => {
    execFileSync(name, words, { env: { ...process.env, ...environment, PIN }, stdio: "pipe" })
  }
  run("softhsm2-util", "--init-token", "--free", "--label", "udg", "--so-pin", SECURITY_OFFICER, "--pin", PIN)
  const login = ["--module", MODULE, "--token-label", "udg", "--login", "--pin", "env:PIN"]
  run("pkcs11-tool", ...login, "--keypairgen", "--key-type", "EC:edwards25519", "--label", "validator")
  return {
    environment,
    command: (key, token = "udg", pin = PIN) => {
      const file = join(directory, `pin-${pin}`)
      writeFileSync(file, `${pin}\n`, { mode: 0o600 })
      return `${program} --module ${MODULE} --token ${token} --key ${key} --pin-file ${file}`
    },
  }
}
