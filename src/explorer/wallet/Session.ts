/** The unlocked keys, kept in memory only while they are used. */
import { signal } from "@preact/signals"
import * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"
import type * as Vault from "./Vault.js"

export interface Owned {
  readonly key: Wallet.SecretKey
  readonly account: Wallet.Account
}

export interface Session {
  readonly owned: ReadonlyArray<Owned>
  readonly current: Owned
  /** Undefined for a borrowed key, which is not stored. */
  readonly lock: Vault.Lock | undefined
}

export const IDLE_MINUTES = 15
const IDLE_MS = IDLE_MINUTES * 60_000

export const session = signal<Session | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined
let usedAt = 0

export const lock = (): void => {
  clearTimeout(timer)
  session.value = undefined
}

/** Timers stop while a computer sleeps, so this also runs on waking. */
const lockIfIdle = (): void => {
  if (session.peek() !== undefined && Date.now() - usedAt >= IDLE_MS) lock()
}

const restart = (): void => {
  usedAt = Date.now()
  clearTimeout(timer)
  timer = setTimeout(lock, IDLE_MS)
}

/** Records use of the wallet. */
export const touch = (): void => {
  lockIfIdle()
  if (session.peek() !== undefined) restart()
}

document.addEventListener("visibilitychange", lockIfIdle)

export const owning = (info: NetworkInfo, key: Wallet.SecretKey): Owned => ({
  key,
  account: Wallet.account(Wallet.network(info), key),
})

/** Starts with the first key, or with one that was just added. */
export const unlock = (owned: ReadonlyArray<Owned>, lock: Vault.Lock | undefined, current = owned[0]): void => {
  session.value = current === undefined ? undefined : { owned, current, lock }
  restart()
}

export const choose = (current: Owned): void => {
  const open = session.peek()
  if (open !== undefined) session.value = { ...open, current }
}
