/** The account's address for a payer: to copy, and as a QR code. */
import { useState } from "preact/hooks"
import { Copy } from "../show/Copy.js"
import { Suspended } from "../show/Suspended.js"

const code = () => import("./QrCode.js").then(({ QrCode }) => QrCode)

export const Receive = ({ address }: { readonly address: string }) => {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <details class="raw" onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>Receive</summary>
      {isOpen ? (
        <div class="receive">
          <Suspended load={code} what="the picture">
            {(QrCode) => <QrCode text={address} />}
          </Suspended>
          <p>
            <span class="mono whole">{address}</span> <Copy text={address} what="address" />
          </p>
        </div>
      ) : undefined}
    </details>
  )
}
