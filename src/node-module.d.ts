/** Declares what the oldest supported version of Node lacks. */
declare module "node:module" {
  export const enableCompileCache: ((directory: string) => unknown) | undefined
}

export {}
