export type { Program } from "../src/Threads.js"
export declare const start: typeof import("../src/Threads.js").start
