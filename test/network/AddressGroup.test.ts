import { describe, expect, it } from "vitest"
import * as AddressGroup from "../../src/network/AddressGroup.js"

describe("addresses of one hand", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7", "203.0.0.0/16"],
    ["::ffff:203.0.113.7", "203.0.113.7", "203.0.0.0/16"],
    ["::FFFF:cb00:7107", "203.0.113.7", "203.0.0.0/16"],
    ["2001:db8:1:2::5", "2001:db8:1:2::/64", "2001:db8::/32"],
    ["2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64", "2001:db8::/32"],
    ["2001:db8::", "2001:db8:0:0::/64", "2001:db8::/32"],
    ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0::/32"],
    ["::1", "0:0:0:0::/64", "0:0::/32"],
    ["64:ff9b::203.0.113.7", "64:ff9b:0:0::/64", "64:ff9b::/32"],
    ["node.example", "node.example", "node.example"],
    ["", "", ""],
  ])("%s is one of %s and of %s", (host, machine, neighbourhood) => {
    expect([AddressGroup.hostGroup(host), AddressGroup.neighbourhood(host)]).toEqual([machine, neighbourhood])
  })
})
