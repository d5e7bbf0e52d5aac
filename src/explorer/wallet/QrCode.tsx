/** A QR code. In capital letters, which bech32m allows, an address takes a third less of it. */
import encode from "qr"

/** Cameras want so many light modules around it. */
const MARGIN = 4

export const QrCode = ({ text }: { readonly text: string }) => {
  const rows = encode(text.toUpperCase(), "raw", { ecc: "medium", border: MARGIN })
  const dark = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return (
    // Dark on light in either theme: many cameras see nothing in the opposite.
    <svg class="qr" viewBox={`0 0 ${rows.length} ${rows.length}`} role="img" aria-label={`QR code of ${text}`}>
      <rect width={rows.length} height={rows.length} fill="#fff" />
      <path d={dark.join("")} fill="#000" shape-rendering="crispEdges" />
    </svg>
  )
}
