/** A QR code. In capital letters, which bech32m allows, an address needs a third less space. */
import encode from "qr"

/** Light modules around the code, which cameras need. */
const MARGIN = 4

export const QrCode = ({ text }: { readonly text: string }) => {
  const rows = encode(text.toUpperCase(), "raw", { ecc: "medium", border: MARGIN })
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    // Dark on light in either theme, because many cameras cannot read the inverse.
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={`QR code of ${text}`}>
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={dark.join("")} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
