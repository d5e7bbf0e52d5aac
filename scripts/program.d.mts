import type { Plugin } from "esbuild"

export declare const buildProgram: (
  outdir: string,
  programs: ReadonlyArray<string>,
  plugins?: ReadonlyArray<Plugin>,
) => Promise<unknown>
