// busboy as a peer; README.md has the protocol.
"use strict"

const fs = require("node:fs")
const readline = require("node:readline")
const busboy = require("busboy")

const CHUNK_SIZE = 64 * 1024
const NO_LIMITS = {
    fieldNameSize: Infinity, fieldSize: Infinity, fields: Infinity, fileSize: Infinity, files: Infinity,
    parts: Infinity, headerPairs: Infinity,
}

function parse(body, boundary) {
    return new Promise((resolve, reject) => {
        let parts = 0
        let bytes = 0
        const parser = busboy({
            headers: { "content-type": `multipart/form-data; boundary="${boundary}"` },
            limits: NO_LIMITS,
            // Fields are given as text: of an encoding that leaves their length as it is.
            defCharset: "latin1",
        })
        parser.on("file", (name, stream) => {
            parts += 1
            stream.on("data", chunk => { bytes += chunk.length })
            stream.on("error", reject)
        })
        parser.on("field", (name, value) => {
            parts += 1
            bytes += value.length
        })
        parser.on("close", () => resolve({ parts, bytes }))
        parser.on("error", reject)
        let offset = 0
        const feed = () => {
            while (offset < body.length) {
                const chunk = body.subarray(offset, offset + CHUNK_SIZE)
                offset += chunk.length
                if (!parser.write(chunk)) return parser.once("drain", feed)
            }
            parser.end()
        }
        feed()
    })
}

async function main() {
    const [first, boundary] = process.argv.slice(2)
    if (first === "--version") {
        const { version } = require("busboy/package.json")
        return console.log(`busboy ${version} on Node ${process.version}`)
    }
    const body = fs.readFileSync(first)
    for await (const _ of readline.createInterface({ input: process.stdin })) {
        const started = process.hrtime.bigint()
        const { parts, bytes } = await parse(body, boundary)
        const seconds = Number(process.hrtime.bigint() - started) / 1e9
        console.log(JSON.stringify({ seconds, parts, bytes }))
    }
}

main().catch(error => {
    console.error(error)
    process.exit(1)
})
