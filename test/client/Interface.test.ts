/** The types that the client writes out against those that the compiler derives from the definition. */
import { expect, it } from "vitest"
import type { Methods as Derived } from "../../src/client/Methods.js"
import type * as Interface from "../../src/client/wire/Interface.js"
import type { Methods as Written } from "../../src/client/wire/Interface.js"
import type { TransactionJson } from "../../src/protocol/transaction/TransactionJson.js"
import type { Event } from "../../src/rpc/api/Events.js"
import type { Failure } from "../../src/rpc/api/Failure.js"

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

// biome-ignore lint/suspicious/noExplicitAny: only `any` stands for the arguments of every method
type Method = (...given: any) => Promise<unknown>

/** The names of methods whose answers are not the same in both. */
type Differing<A, B> = {
  [G in keyof A & keyof B]: {
    [E in keyof A[G] & keyof B[G]]: A[G][E] extends Method
      ? B[G][E] extends Method
        ? Same<Awaited<ReturnType<A[G][E]>>, Awaited<ReturnType<B[G][E]>>> extends true
          ? never
          : E
        : E
      : E
  }[keyof A[G] & keyof B[G]]
}[keyof A & keyof B]

/** Whatever the derived method takes, the written one takes. */
type Refusing<A, B> = {
  [G in keyof A & keyof B]: {
    [E in keyof A[G] & keyof B[G]]: A[G][E] extends Method
      ? B[G][E] extends Method
        ? Parameters<A[G][E]> extends Parameters<B[G][E]>
          ? never
          : E
        : E
      : E
  }[keyof A[G] & keyof B[G]]
}[keyof A & keyof B]

const holds = <_ extends true>(): boolean => true

it("the client's types are those of the definition", () => {
  expect([
    holds<Same<keyof Written, keyof Derived>>(),
    // One that takes one or several answers accordingly, which no single type says.
    holds<Same<Differing<Omit<Derived, "transactions">, Omit<Written, "transactions">>, never>>(),
    holds<Same<Exclude<Differing<Pick<Derived, "transactions">, Pick<Written, "transactions">>, "submit">, never>>(),
    holds<Same<Exclude<Refusing<Derived, Written>, "submit">, never>>(),
    holds<Same<TransactionJson, Interface.Transaction>>(),
    holds<Same<Event, Interface.Event>>(),
    holds<Same<Failure["_tag"], Interface.Failure["_tag"]>>(),
    holds<Failure extends Interface.Failure ? true : false>(),
  ]).not.toContain(false)
})
