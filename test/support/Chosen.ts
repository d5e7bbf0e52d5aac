/** Activates one of the faults that are planted in a program together; by default none. */

declare global {
  // Read by the code that Planting.ts inserts.
  var chosenFault: string | undefined
}

export const choose = (name: string | undefined): void => {
  globalThis.chosenFault = name
}
