// Starts the program of a thread as it is built, in a process that has none of the test's own settings, and hands on what
// it is asked and what it answers.
import { start } from "../../dist/Threads.js"

const thread = start(process.argv[2])
process.on("message", (request) => thread.postMessage(request))
thread.on("message", (reply) => process.send(reply))
