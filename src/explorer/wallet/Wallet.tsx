import { useEffect, useRef } from "preact/hooks"
import * as Network from "../live/Network.js"
import { Page } from "../show/Page.js"
import * as Session from "./Session.js"
import { UnlockedWallet } from "./UnlockedWallet.js"
import { WalletSetup } from "./WalletSetup.js"

const abouts = {
  testnet:
    "Keys are made, stored and used in this browser; the node sees only signed transactions. For play money only.",
  mainnet: "Signs transactions with a key that you enter, and stores none.",
} as const

/** Events that count as use of the wallet. */
const USES = ["keydown", "pointerdown"] as const

export const Wallet = () => {
  const info = Network.network.value
  const session = Session.session.value
  const owned = session?.owned
  const before = useRef(owned)
  // After unlocking, locking, adding or removing an account, the title takes the focus, because its owner is gone.
  useEffect(() => {
    if (before.current !== owned) {
      document.querySelector("h1")?.focus({ preventScroll: true })
      scrollTo({ top: 0 })
    }
    before.current = owned
  }, [owned])
  useEffect(() => {
    for (const event of USES) addEventListener(event, Session.touch)
    return () => {
      for (const event of USES) removeEventListener(event, Session.touch)
    }
  }, [])
  if (info === undefined) return <Page title="Wallet">Waiting for the node…</Page>
  return (
    <Page title="Wallet" about={abouts[info.mode]}>
      {session === undefined ? <WalletSetup info={info} /> : <UnlockedWallet info={info} session={session} />}
    </Page>
  )
}
