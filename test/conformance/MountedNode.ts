/** A node in this process behind the library's own server, as another program might serve it. */
import { createServer } from "node:http"
import { join } from "node:path"
import { HttpApiBuilder, HttpServer } from "@effect/platform"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Layer, ManagedRuntime, Option } from "effect"
import * as Client from "../../src/client/Client.js"
import { Api } from "../../src/rpc/api/Api.js"
import * as HttpInterface from "../../src/rpc/HttpInterface.js"
import * as world from "../node/world.js"
import * as TestNode from "./TestNode.js"

export const start = async (settings: TestNode.Settings): Promise<TestNode.TestNode> => {
  const { files, known, remove } = TestNode.prepare(settings)
  const runtime = ManagedRuntime.make(
    HttpApiBuilder.serve().pipe(
      Layer.provide(HttpApiBuilder.api(Api)),
      Layer.provide(HttpInterface.mounted),
      Layer.provide(
        world.node(join(known.folder, "data"), {
          genesisFile: Option.some(files.genesis),
          validatorKeyFile: Option.some(files.validatorKey),
          faucetKeyFile: Option.fromNullable(files.faucetKey),
          roundMs: Option.none(),
        }),
      ),
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
    ),
  )
  const { address } = await runtime.runPromise(HttpServer.HttpServer)
  const port = address._tag === "TcpAddress" ? address.port : 0
  const url = `http://127.0.0.1:${port}`
  return {
    ...known,
    url,
    port,
    pid: process.pid,
    client: Client.connect(url, { retries: 0 }),
    p2p: "",
    log: () => "",
    stop: async () => {
      await runtime.dispose()
      remove()
      return { code: 0, tookMs: 0 }
    },
  }
}
