import * as Network from "../live/Network.js"
import { Page } from "../show/Page.js"
import { Desk } from "./Desk.js"
import { Entrance } from "./Entrance.js"
import * as Session from "./Session.js"

const abouts = {
  testnet:
    "Keys are made, stored and used in this browser; the node sees only signed transactions. For play money only.",
  mainnet: "Signs transactions with a key that you enter, and stores none.",
} as const

export const Wallet = () => {
  const info = Network.network.value
  const session = Session.session.value
  if (info === undefined) return <Page title="Wallet">Waiting for the node…</Page>
  return (
    <Page title="Wallet" about={abouts[info.mode]}>
      {session === undefined ? <Entrance info={info} /> : <Desk info={info} session={session} />}
    </Page>
  )
}
