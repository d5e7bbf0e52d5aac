/** libp2p needs this from the moment it is loaded, and Node has it only from version 22 on. */
Promise.withResolvers ??= function withResolvers<A>() {
  let resolve: PromiseWithResolvers<A>["resolve"] | undefined
  let reject: PromiseWithResolvers<A>["reject"] | undefined
  const promise = new Promise<A>((onValue, onError) => {
    resolve = onValue
    reject = onError
  })
  if (resolve === undefined || reject === undefined) throw new Error("a promise runs its executor at once")
  return { promise, resolve, reject }
}
