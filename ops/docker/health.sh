#!/bin/sh
# Does what this container runs answer? A node says in running.json of its data directory where it serves HTTP. A node that
# keeps nothing, an archive and a gateway leave no such word: they are asked at the port that the words with which the
# container was started name, or its variables. $1 is where those words are read.
exec node -e '
const { readFileSync } = require("node:fs")
const { UDG_DATA_DIR, UDG_RPC_PORT, UDG_PORT } = process.env
const words = readFileSync(process.argv[1], "utf8").split("\0")
const given = (option) =>
  words.flatMap((word, n) => (word === option ? words[n + 1] : word.startsWith(`${option}=`) ? word.split("=")[1] : [])).at(-1)
const said = () => JSON.parse(readFileSync(`${UDG_DATA_DIR}/running.json`, "utf8")).rpc
const meant = () => {
  const p2p = given("--port") || UDG_PORT || 9333
  return `http://127.0.0.1:${given("--rpc-port") || UDG_RPC_PORT || Number(p2p) + 1000}`
}
const rpc = () => {
  try {
    return said()
  } catch {
    return meant()
  }
}
fetch(`${rpc()}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))
' "${1:-/proc/1/cmdline}"
