import { Page } from "../show/Page.js"

export const Wallet = () => <Page title="Wallet">…</Page>
