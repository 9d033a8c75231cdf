// Node's FormData and fetch as a peer; README.md has the protocol.
"use strict"

const fs = require("node:fs")
const path = require("node:path")
const readline = require("node:readline")

// Before Node 19.8 there is no Blob that reads from a file as it is sent.
async function blob(file) {
    return fs.openAsBlob ? fs.openAsBlob(file) : new Blob([await fs.promises.readFile(file)])
}

async function upload(url, files) {
    const form = new FormData()
    for (const file of files) form.append("file", await blob(file), path.basename(file))
    const response = await fetch(url, { method: "POST", body: form })
    await response.arrayBuffer()
    if (response.status !== 200) throw new Error(`the receiver answers ${response.status}`)
}

async function main() {
    const [url, ...files] = process.argv.slice(2)
    if (url === "--version") return console.log(`FormData and fetch of Node ${process.version}`)
    for await (const _ of readline.createInterface({ input: process.stdin })) {
        const started = process.hrtime.bigint()
        await upload(url, files)
        const seconds = Number(process.hrtime.bigint() - started) / 1e9
        console.log(JSON.stringify({ seconds, parts: files.length }))
    }
}

process.emitWarning = () => {}
main().catch(error => {
    console.error(error)
    process.exit(1)
})
