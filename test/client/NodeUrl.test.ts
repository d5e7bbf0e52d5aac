import { expect, it } from "vitest"
import { connect, InvalidInput } from "../../src/client/Client.js"
import * as NodeUrl from "../../src/client/NodeUrl.js"

it.each([
  ["http://127.0.0.1:10333", "http://127.0.0.1:10333"],
  ["https://node.example/udg/", "https://node.example/udg"],
  ["127.0.0.1:10933", "http://127.0.0.1:10933"],
  ["localhost:10933", "http://localhost:10933"],
  ["LocalHost/", "http://LocalHost"],
  ["[::1]:1/a//", "http://[::1]:1/a"],
  [" HTTPS://node.example ", "HTTPS://node.example"],
])("reads %j as %s", (given, url) => {
  expect(NodeUrl.parse(given)).toBe(url)
})

it.each([
  ["node.example:10333", "add a scheme: https://node.example:10333, or http://node.example:10333"],
  ["192.0.2.7", "add a scheme: https://192.0.2.7, or"],
  ["127.0.0.1.evil.example:1", "add a scheme: https://127.0.0.1.evil.example:1, or"],
  ["localhost@evil.example", "expected http:// or https:// and a host"],
  ["ftp://node.example", "expected http:// or https:// and a host"],
  ["", "expected http:// or https:// and a host"],
  ["http://", "expected http:// or https:// and a host"],
  ["http://a b", "expected http:// or https:// and a host"],
])("refuses %j with advice", (given, advice) => {
  expect(() => connect(given)).toThrow(InvalidInput)
  expect(() => connect(given)).toThrow(`${JSON.stringify(given)} is not the URL of a node: `)
  expect(() => connect(given)).toThrow(advice)
})
