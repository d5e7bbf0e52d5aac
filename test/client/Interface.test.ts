/** Compares the hand-written types of the client with those derived from the definition. */
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

/** The names of methods whose results differ. */
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

/** The names of methods whose hand-written form rejects arguments that the derived one accepts. */
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

it("the client's types match the definition", () => {
  expect([
    holds<Same<keyof Written, keyof Derived>>(),
    // `submit` accepts one transaction or several and answers accordingly, which no single type expresses.
    holds<Same<Differing<Omit<Derived, "transactions">, Omit<Written, "transactions">>, never>>(),
    holds<Same<Exclude<Differing<Pick<Derived, "transactions">, Pick<Written, "transactions">>, "submit">, never>>(),
    holds<Same<Exclude<Refusing<Derived, Written>, "submit">, never>>(),
    holds<Same<TransactionJson, Interface.Transaction>>(),
    holds<Same<Event, Interface.Event>>(),
    holds<Same<Failure["_tag"], Interface.Failure["_tag"]>>(),
    holds<Failure extends Interface.Failure ? true : false>(),
  ]).not.toContain(false)
})
