/** A real nginx with one of our configurations, with all of its files in the test's directory. */
import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { textOf } from "./Kit.js"

export interface Ports {
  readonly plain: number
  readonly served: number
  readonly secure: number
  readonly node: number
}

const files = (directory: string) => ({
  certificate: join(directory, "certificate.pem"),
  key: join(directory, "key.pem"),
})

/** Makes the certificate and key of `udgConfiguration`, signed by itself. */
export const certify = (directory: string, days: number): string => {
  const { certificate, key } = files(directory)
  const names = ["-subj", "/CN=node.example", "-addext", "subjectAltName=IP:127.0.0.1"]
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", String(days), ...names]
  const { status, stderr } = spawnSync("openssl", [...made, "-keyout", key, "-out", certificate], { encoding: "utf8" })
  if (status !== 0) throw new Error(`openssl makes no certificate: ${stderr}`)
  return certificate
}

/** udg.conf with free ports, an additional listener without TLS, and a certificate in this directory. */
export const udgConfiguration = ({ plain, served, secure, node }: Ports, directory: string): string => {
  const { certificate, key } = files(directory)
  const changes: ReadonlyArray<readonly [what: string, instead: string]> = [
    ["server 127.0.0.1:10333;", `server 127.0.0.1:${node};`],
    ["  listen 80;\n  listen [::]:80;", `  listen 127.0.0.1:${plain};`],
    [
      "  listen 443 ssl http2;\n  listen [::]:443 ssl http2;",
      `  listen 127.0.0.1:${served};\n  listen 127.0.0.1:${secure} ssl http2;`,
    ],
    ["/etc/letsencrypt/live/node.example/fullchain.pem", certificate],
    ["/etc/letsencrypt/live/node.example/privkey.pem", key],
  ]
  return changes
    .reduce((text, [what, instead]) => {
      if (text.split(what).length !== 2) throw new Error(`udg.conf does not have this once: ${what}`)
      return text.replace(what, instead)
    }, textOf("nginx/udg.conf"))
    .concat(textOf("nginx/refusals.conf"))
}

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
