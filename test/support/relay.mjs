// Starts a built thread program in a process without the test's settings, and forwards requests and answers.
import { start } from "../../dist/Threads.js"

const thread = start(process.argv[2])
process.on("message", (request) => thread.postMessage(request))
thread.on("message", (reply) => process.send(reply))
