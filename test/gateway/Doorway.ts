/** A proxy in front of a node that records requests and can lose a response, like a node that dies while it answers. */
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

export interface Doorway {
  readonly url: string
  /** Method, path and body of each request, except status requests. */
  readonly asked: ReadonlyArray<{ readonly method: string; readonly path: string; readonly body: string }>
  /** Handles transactions. `pass` returns the node's response; undefined is no response. */
  submission: (pass: () => Promise<Response>) => Promise<Response | undefined>
  /** Handles all other requests. */
  other: (path: string, pass: () => Promise<Response>) => Promise<Response | undefined>
  readonly close: () => void
}

const bodyOf = async (request: Http.IncomingMessage): Promise<string> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

const asText = (headers: Http.IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      typeof value === "string" && !["host", "connection", "content-length"].includes(name) ? [[name, value]] : [],
    ),
  )

export const before = async (node: string): Promise<Doorway> => {
  const asked: Array<Doorway["asked"][number]> = []
  const server = Http.createServer((request, response) => {
    void (async () => {
      const { method = "", url: path = "" } = request
      const body = await bodyOf(request)
      if (path !== "/status") asked.push({ method, path, body })
      const pass = () =>
        fetch(node + path, { method, headers: asText(request.headers), ...(method === "POST" ? { body } : {}) })
      const answer = await (path === "/tx/submit" ? doorway.submission(pass) : doorway.other(path, pass))
      if (answer === undefined) {
        request.socket.destroy()
        return
      }
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "text/plain" })
      if (answer.body !== null) for await (const chunk of answer.body) response.write(chunk)
      response.end()
    })().catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  const doorway: Doorway = {
    url: `http://127.0.0.1:${port}`,
    asked,
    submission: (pass) => pass(),
    other: (_, pass) => pass(),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  return doorway
}
