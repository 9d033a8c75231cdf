// Sends forms with Node's own FormData and fetch (undici).
//
//     node node_client.mjs {URL FORM}...

import { readFile } from "node:fs/promises"
import { argv } from "node:process"
// Global from Node 20 on.
import { File } from "node:buffer"

const text = word => (word === "=" ? "" : Buffer.from(word, "base64").toString())

for (let index = 2; index + 1 < argv.length; index += 2) {
    const form = new FormData()
    const lines = (await readFile(argv[index + 1], "ascii")).trimEnd().split("\n")
    for (const line of lines) {
        const [kind, ...words] = line.split(" ")
        const [name, value, type, path] = words.map(text)
        if (kind === "text") form.append(name, value)
        else form.append(name, new File([await readFile(path)], value, { type }))
    }
    const response = await fetch(argv[index], { method: "POST", body: form })
    await response.arrayBuffer()
    if (!response.ok) throw new Error(`${argv[index]}: ${response.status}`)
}
