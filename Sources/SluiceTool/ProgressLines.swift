import Sluice
import SluiceCurl

/// Progress as lines of text: one for people and logs, one for programs.
enum ProgressLines {
    /// `45%, 1.20 GiB of 2.60 GiB, 312 MiB/s, 0:04 left, part "video" (2 of 3)`.
    ///
    /// - Parameters:
    ///   - progress: What it says.
    ///   - note: What to say besides, for several transfers.
    /// - Returns: The line.
    static func plain(_ progress: TransferProgress, note: String? = nil) -> String {
        var fields: [String] = []
        let shown = ShownProgress(progress)
        if let fraction = shown.fractionCompleted { fields.append("\(Int(fraction * 100))%") }
        let total = shown.totalBytes.map { " of \(Units.bytes($0))" } ?? ""
        fields.append(Units.bytes(shown.completedBytes) + total)
        if let ratio = shown.ratioText { fields.append("compressed \(ratio)") }
        if let rate = shown.bytesPerSecond { fields.append(Units.rate(rate)) }
        if progress.isFinished {
            fields.append("done in \(Units.duration(progress.elapsedSeconds))")
        } else {
            if let left = shown.secondsRemaining { fields.append("\(Units.duration(left)) left") }
            if let part = progress.part {
                let place = part.count > 1 ? " (\(part.index + 1) of \(part.count))" : ""
                fields.append("part \(part.label)\(place)")
            }
        }
        if progress.resumedBytes > 0 { fields.append("from \(Units.bytes(progress.resumedBytes))") }
        // Of several transfers each says itself that it is tried again.
        if let note {
            fields.append(note)
        } else if progress.attempt > 1 {
            fields.append("attempt \(progress.attempt)")
        }
        return fields.joined(separator: ", ")
    }

    /// One JSON object.
    ///
    /// What is not known is null; numbers are bytes, bytes a second and seconds. `source` counts compressed parts before
    /// compression, and is null where there are none.
    ///
    /// - Parameters:
    ///   - progress: What it says.
    ///   - transfer: The transfer's number, from 1.
    /// - Returns: The object.
    static func json(_ progress: TransferProgress, transfer: Int) -> String {
        let part = progress.part.map { part in
            JSONText.object([
                ("name", part.label.name.map(JSONText.string)),
                ("index", "\(part.index)"),
                ("count", "\(part.count)"),
                ("completed", "\(part.completedBytes)"),
                ("total", part.totalBytes.map { "\($0)" }),
            ])
        }
        let source = progress.source.map { source in
            JSONText.object([
                ("completed", "\(source.completedBytes)"),
                ("total", source.totalBytes.map { "\($0)" }),
                ("rate", source.bytesPerSecond.flatMap(JSONText.number)),
            ])
        }
        return JSONText.object([
            ("transfer", "\(transfer)"),
            ("completed", "\(progress.completedBytes)"),
            ("total", progress.totalBytes.map { "\($0)" }),
            ("fraction", progress.fractionCompleted.flatMap(JSONText.number)),
            ("rate", progress.bytesPerSecond.flatMap(JSONText.number)),
            ("eta", progress.secondsRemaining.flatMap(JSONText.number)),
            ("attempt", "\(progress.attempt)"),
            ("resumed", "\(progress.resumedBytes)"),
            ("part", part),
            ("source", source),
            ("elapsed", JSONText.number(progress.elapsedSeconds)),
            ("finished", "\(progress.isFinished)"),
        ])
    }
}

extension ProgressLines {
    /// One JSON object about an attempt that failed and the one that follows.
    ///
    /// - Parameters:
    ///   - notice: What it says.
    ///   - transfer: The transfer's number, from 1.
    /// - Returns: The object.
    static func json(_ notice: RetryNotice, transfer: Int) -> String {
        let retrying = JSONText.object([
            ("attempt", "\(notice.attempt)"),
            ("delay", JSONText.number(notice.delay / .seconds(1))),
            ("reason", JSONText.string(ToolError.words(for: notice.reason))),
        ])
        return JSONText.object([("transfer", "\(transfer)"), ("retrying", retrying)])
    }
}

/// Writes JSON (RFC 8259).
enum JSONText {
    /// An object of members whose values are JSON already; nil is null.
    static func object(_ members: [(name: String, value: String?)]) -> String {
        "{" + members.map { "\(string($0.name)):\($0.value ?? "null")" }.joined(separator: ",") + "}"
    }

    /// A string with its quotes; what JSON or a terminal must not see as it is, is escaped.
    static func string(_ text: String) -> String {
        var bytes: [UInt8] = []
        append(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The same behind bytes that there are: for texts of which there is not to be another copy.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": bytes += "\\\"".utf8
            case "\\": bytes += "\\\\".utf8
            case "\n": bytes += "\\n".utf8
            case "\r": bytes += "\\r".utf8
            case "\t": bytes += "\\t".utf8
            case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
                bytes += "\\u00".utf8
                for digit in [UInt8(scalar.value) >> 4, UInt8(scalar.value) & 15] {
                    bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
                }
            default: bytes += UTF8.encode(scalar) ?? .init()
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A number with at most four digits behind the point; nil for infinity and its kin, which JSON cannot write.
    static func number(_ value: Double) -> String? {
        guard value.isFinite, abs(value) < 1e15 else { return nil }
        let rounded = (value * 10_000).rounded() / 10_000
        return rounded == rounded.rounded() ? "\(Int64(rounded))" : "\(rounded)"
    }
}
