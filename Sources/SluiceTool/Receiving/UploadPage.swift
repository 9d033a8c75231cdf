/// The page that a browser is shown: a form, which says how far it is and what was stored.
enum UploadPage {
    /// What the page may do, for browsers: run its own script, send to where it came from, and nothing else.
    static let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
        + "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

    /// The page, which without its script is a form like any other.
    static let html = #"""
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width">
        <title>Upload</title>
        <style>
        body { font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
        progress { width: 100%; height: 1.5rem }
        #stored { overflow-wrap: anywhere }
        .error { color: #b00020 }
        @media (prefers-color-scheme: dark) { :root { color-scheme: dark } .error { color: #ff6b81 } }
        </style>
        <h1>Upload</h1>
        <form method="post" enctype="multipart/form-data">
        <p><label>Files <input type="file" name="file" multiple required></label>
        <p><button>Upload</button> <button type="button" id="cancel" hidden>Cancel</button>
        </form>
        <progress id="progress" max="1" value="0" hidden aria-label="Progress"></progress>
        <p id="status" role="status"></p>
        <ul id="stored"></ul>
        <script>
        const form = document.forms[0]
        const [progress, status, stored, cancel] =
            ["progress", "status", "stored", "cancel"].map(id => document.getElementById(id))
        const show = (text, isError = false) => {
            status.textContent = text
            status.className = isError ? "error" : ""
        }
        const size = bytes => {
            const units = ["B", "KiB", "MiB", "GiB", "TiB"]
            let unit = 0
            while (bytes >= 1023.5 && unit < units.length - 1) { bytes /= 1024; unit += 1 }
            return `${unit ? bytes.toPrecision(3) : bytes} ${units[unit]}`
        }
        form.addEventListener("submit", event => {
            event.preventDefault()
            const request = new XMLHttpRequest()
            const started = performance.now()
            const end = (text, isError) => {
                progress.hidden = cancel.hidden = true
                form.querySelector("button").disabled = false
                show(text, isError)
            }
            request.upload.addEventListener("progress", event => {
                if (!event.lengthComputable) return
                const seconds = (performance.now() - started) / 1000
                progress.value = event.loaded / event.total
                show(`${Math.floor(100 * event.loaded / event.total)} %, ${size(event.loaded)} of ${size(event.total)}, `
                    + `${size(event.loaded / Math.max(seconds, 0.001))}/s`)
            })
            request.addEventListener("load", () => {
                let answer
                try { answer = JSON.parse(request.responseText) } catch { answer = {} }
                if (request.status !== 200) return end(answer.error ?? `The server answered ${request.status}.`, true)
                for (const part of answer.filter(part => part.path !== null)) {
                    const item = document.createElement("li")
                    item.textContent = `${part.path}, ${size(part.size)}`
                    stored.append(item)
                }
                form.reset()
                end("Stored.")
            })
            request.addEventListener("error", () => end("The connection was lost.", true))
            request.addEventListener("abort", () => end("Cancelled. Nothing was stored.", true))
            cancel.onclick = () => request.abort()
            request.open("POST", location.pathname)
            request.send(new FormData(form))
            progress.value = 0
            progress.hidden = cancel.hidden = false
            form.querySelector("button").disabled = true
            show("Starting.")
        })
        </script>
        </html>
        """#
}
