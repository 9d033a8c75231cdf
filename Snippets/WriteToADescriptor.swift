// Writes a form to a descriptor (a socket, a pipe, a file): file bytes never enter the process.
import Sluice

let form = try MultipartForm(subtype: .mixed) {
    for path in CommandLine.arguments.dropFirst() { Part.file("file", path: path) }
}
let report = try form.body().write(to: 1)
print("by way of:", report.bytesByMethod)
