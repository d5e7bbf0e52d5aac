import { describe, expect, it } from "vitest"
import * as AddressGroup from "../../src/network/AddressGroup.js"

describe("address groups", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7", "203.0"],
    ["::ffff:203.0.113.7", "203.0.113.7", "203.0"],
    ["::FFFF:cb00:7107", "203.0.113.7", "203.0"],
    ["2001:db8:1:2::5", "2001:db8:1:2::/64", "2001:db8"],
    ["2001:0DB8:0001:0002:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64", "2001:db8"],
    ["2001:db8::", "2001:db8:0:0::/64", "2001:db8"],
    ["fe80::1%eth0", "fe80:0:0:0::/64", "fe80:0"],
    ["::1", "0:0:0:0::/64", "0:0"],
    ["64:ff9b::203.0.113.7", "203.0.113.7", "203.0"],
    ["2002:cb00:7107:5::1", "203.0.113.7", "203.0"],
    ["node.example", "node.example", "node.example"],
    ["", "", ""],
  ])("%s is one of %s and of %s", (address, host, widest) => {
    expect(AddressGroup.hostGroup(address)).toBe(host)
    expect(AddressGroup.networksOf(host)[0]).toBe(widest)
  })
})
