import { resolve } from "node:path"
import { defineConfig } from "vite"

const source = resolve(import.meta.dirname, "src")

/** The explorer's page. `npx vite` serves it while working, over the node that `UDG_NODE` names. */
export default defineConfig({
  root: resolve(source, "explorer"),
  base: "/explorer/",
  publicDir: false,
  // The package's own `#crypto` leads to dist/, which may not be built yet.
  resolve: { alias: { "#crypto": resolve(source, "protocol/crypto/Portable.ts") } },
  build: {
    target: "es2023",
    modulePreload: { polyfill: false },
    // Nothing inline: the page's policy allows neither inline scripts nor styles.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1_000,
    reportCompressedSize: false,
  },
  server: {
    host: "127.0.0.1",
    proxy: { "^/(?!explorer/)": process.env["UDG_NODE"] ?? "http://127.0.0.1:10333" },
  },
})
