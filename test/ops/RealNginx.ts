/** A real nginx with one of our configurations, with all of its files in the test's directory. */
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"

export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** All files that nginx writes are in the test's directory, and it stays in the foreground. */
export const mainConfiguration = (directory: string, configuration: string): string => {
  const file = join(directory, "nginx.conf")
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
  const paths = temporary.map((name) => `${name}_temp_path ${join(directory, name)};`)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, "udg.conf"), configuration)
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${join(directory, "pid")}; error_log stderr;
     events {} http { access_log off; ${paths.join(" ")} include ${join(directory, "udg.conf")}; }`,
  )
  return file
}
