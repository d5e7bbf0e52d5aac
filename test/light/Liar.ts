/** A server on loopback that forwards requests to a node or answers itself, and can change every response. */
import { createServer, type ServerResponse } from "node:http"

type Json = Record<string, unknown>

/** Returns another response, or misuses the connection. */
export type Lie = (honest: Json, path: string) => Json | ((outgoing: ServerResponse) => void)

/** The node behind it: a URL, or the response to each path; undefined is a 404. */
export type Behind = string | ((path: string) => Json | undefined)

export interface Liar extends AsyncDisposable {
  readonly url: string
  /** All requested paths. */
  readonly asked: ReadonlyArray<string>
}

const ask = async (behind: Behind, path: string): Promise<Json | undefined> => {
  if (typeof behind !== "string") return behind(path)
  const response = await fetch(`${behind}${path}`)
  const json: unknown = await response.json()
  return response.ok && typeof json === "object" && json !== null ? { ...json } : undefined
}

export const start = async (behind: Behind, lie: Lie = (honest) => honest): Promise<Liar> => {
  const asked: Array<string> = []
  const answer = async (path: string, outgoing: ServerResponse): Promise<void> => {
    asked.push(path)
    const honest = await ask(behind, path)
    if (honest === undefined) {
      outgoing.writeHead(404).end()
      return
    }
    const said = lie(honest, path)
    if (typeof said === "function") said(outgoing)
    else outgoing.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(said))
  }
  const server = createServer((incoming, outgoing) => {
    answer(incoming.url ?? "", outgoing).catch((error: unknown) => outgoing.destroy(new Error(String(error))))
  })
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle))
  const address = server.address()
  if (address === null || typeof address === "string") throw new Error("it listens on a port")
  const stop = () =>
    new Promise<void>((settle) => {
      server.close(() => settle())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${address.port}`, asked, [Symbol.asyncDispose]: stop }
}
