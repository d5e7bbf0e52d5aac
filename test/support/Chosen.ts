/** Which one acts of the faults that are planted in a program together; by default none. */

declare global {
  // Read by what Planting.ts writes into sources.
  var chosenFault: string | undefined
}

export const choose = (name: string | undefined): void => {
  globalThis.chosenFault = name
}
