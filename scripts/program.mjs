// Bundles the program in parts, and each thread program on its own.
import { readFileSync } from "node:fs"
import { resolve } from "node:path"
import { build } from "esbuild"

/** Where a package's top-level exports have different module names. */
const elsewhere = { "effect/pipe": "Function", "effect/identity": "Function" }

/**
 * Rewrites `import { Effect } from "effect"` as `import * as Effect from "effect/Effect"`: the bundler splits by file,
 * and the file that names all modules would put all of them into every part.
 */
const modulesByName = {
  name: "modules by name",
  setup: ({ onLoad }) => {
    const imports = /^import \{([^}]*)\} from "(effect|@effect\/(?:platform|sql))"/gm
    const single = (from, [name, as = name]) => {
      const module = elsewhere[`${from}/${name}`] ?? name
      return `import ${module === "Function" ? `{ ${name} as ${as} }` : `* as ${as}`} from "${from}/${module}"`
    }
    onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => ({
      loader: "ts",
      contents: readFileSync(path, "utf8").replaceAll(imports, (_, names, from) =>
        names
          .split(",")
          .map((name) => name.trim().split(" as "))
          .filter(([name]) => name !== "" && !name.startsWith("type "))
          .map((name) => single(from, name))
          .join("; "),
      ),
    }))
  },
}

/** The plugins come before ours: the first that loads a file decides its text. */
export const buildProgram = (outdir, programs, plugins = []) =>
  build({
    absWorkingDir: resolve(import.meta.dirname, ".."),
    // Thread programs replace their modules. A node starts one of them every minute, and loading all of Effect for it
    // took four times as long as its work.
    entryPoints: ["main", ...programs].map((name) => ({ in: `src/${name}.ts`, out: name })),
    // The parts are beside main.js, because paths relative to a module (Site.ts) must resolve as in a single bundle.
    outdir,
    splitting: true,
    allowOverwrite: true,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    conditions: ["udg-source"],
    sourcemap: true,
    // Names stay for stack traces, but for unused ones of expressions. Removing whitespace makes the package an eighth
    // smaller, shorter syntax a little more.
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [...plugins, modulesByName],
    alias: { "#threads": "./src/Threads.ts" },
    // Native code cannot be bundled. The banner provides the `require` that bundled CommonJS packages expect.
    external: ["sodium-native", "better-sqlite3", "pg-native", "cloudflare:sockets"],
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    logLevel: "warning",
  })
