/** The unlocked key: only in memory, and only while it is used. */
import { signal } from "@preact/signals"
import * as Wallet from "../../client/Wallet.js"
import type { NetworkInfo } from "../live/Network.js"

export interface Session {
  readonly key: Wallet.SecretKey
  readonly account: Wallet.Account
}

const IDLE_MS = 15 * 60_000

export const session = signal<Session | undefined>(undefined)

let timer: ReturnType<typeof setTimeout> | undefined

export const lock = (): void => {
  clearTimeout(timer)
  session.value = undefined
}

/** Restarts the timer of the automatic lock. */
export const touch = (): void => {
  clearTimeout(timer)
  if (session.peek() !== undefined) timer = setTimeout(lock, IDLE_MS)
}

export const unlock = (info: NetworkInfo, key: Wallet.SecretKey): void => {
  session.value = { key, account: Wallet.account(Wallet.network(info), key) }
  touch()
}
