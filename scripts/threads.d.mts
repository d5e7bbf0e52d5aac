export type { Program } from "../src/Threads.js"
export declare const start: typeof import("../src/Threads.js").start
export declare const startFile: (file: string) => import("node:worker_threads").Worker
