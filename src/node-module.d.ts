/** What the oldest version of Node that we run on does not have yet. */
declare module "node:module" {
  export const enableCompileCache: ((directory: string) => unknown) | undefined
}

export {}
