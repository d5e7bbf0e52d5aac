#!/bin/sh
# Is the node of this container alive? It asks where the node said that it serves HTTP: in running.json of its data directory.
exec node -e '
const { readFileSync } = require("node:fs")
const { rpc } = JSON.parse(readFileSync(`${process.env.UDG_DATA_DIR}/running.json`, "utf8"))
fetch(`${rpc}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))
'
