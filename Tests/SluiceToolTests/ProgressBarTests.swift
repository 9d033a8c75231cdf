import Testing

@testable import Sluice
@testable import SluiceTool

extension TransferProgress {
    /// A report about a body of two parts, of which the second one is under way.
    static func sample(
        _ completed: Int64,
        of total: Int64?,
        name: String? = "video",
        rate: Double? = 327_155_712,
        elapsed: Double = 4.2,
        attempt: Int = 1,
        resumed: Int64 = 0,
        isFinished: Bool = false
    ) -> TransferProgress {
        TransferProgress(
            completedBytes: completed,
            totalBytes: total,
            part: Part(
                label: MultipartError.PartLabel(index: 1, name: name),
                index: 1,
                count: 2,
                completedBytes: max(completed - 100, 0),
                totalBytes: total.map { $0 - 200 }
            ),
            elapsedSeconds: elapsed,
            bytesPerSecond: rate,
            attempt: attempt,
            resumedBytes: resumed,
            isFinished: isFinished,
            isLast: isFinished
        )
    }
}

@Suite struct ProgressBarTests {
    private let half = TransferProgress.sample(1_288_490_188, of: 2_791_728_742)

    @Test(arguments: [
        (
            110,
            #" 46%  [==================>                     ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:05  "video" (2/2)"#
        ),
        (100, #" 46%  [=============>                ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:05  "video" (2/2)"#),
        (79, #" 46%  [====>    ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:05  "video" (2/2)"#),
        (78, #" 46%  [===>    ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:05  "video" (2/2)"#),
        (77, #" 46%  [==========>           ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:05"#),
        (63, #" 46%  [===>    ]  1.20 GiB of 2.60 GiB   312 MiB/s  ETA    0:05"#),
        (62, #" 46%  [=========>          ]  1.20 GiB of 2.60 GiB   312 MiB/s"#),
        (50, #" 46%  [===>    ]  1.20 GiB of 2.60 GiB   312 MiB/s"#),
        (49, #" 46%  1.20 GiB of 2.60 GiB   312 MiB/s"#),
        (38, #" 46%  1.20 GiB of 2.60 GiB   312 MiB/s"#),
        (37, #" 46%  1.20 GiB of 2.60 GiB"#),
        (26, #" 46%  1.20 GiB of 2.60 GiB"#),
        (25, #" 46%"#),
        (4, #" 46%"#),
        (3, ""),
        (0, ""),
    ])
    func `What has no room is left out`(columns: Int, line: String) {
        #expect(ProgressBar.line(half, columns: columns) == line)
    }

    @Test func `No line is wider than it may be`() {
        let reports = [
            half,
            .sample(0, of: 100, rate: nil, elapsed: 0),
            .sample(100, of: 100, isFinished: true),
            .sample(0, of: 0, isFinished: true),
            .sample(1023 << 20, of: nil),
            .sample(Int64.max, of: Int64.max, name: String(repeating: "日本", count: 50), rate: 1e300, elapsed: 1e9),
            .sample(5, of: 1 << 60, name: nil, rate: 0.001),
            .sample(5, of: nil, name: "\u{1B}[31m\n", rate: .infinity, elapsed: .infinity),
        ]
        for report in reports {
            for columns in 0...200 {
                let line = ProgressBar.line(report, columns: columns)
                #expect(DisplayWidth.columns(of: line) <= columns)
                #expect(!line.unicodeScalars.contains { $0.value < 0x20 })
            }
        }
    }

    @Test(arguments: [
        (0, "[                                        ]", "  0%"),
        (1, "[>                                       ]", "  0%"),
        (500, "[====================>                   ]", " 50%"),
        (999, "[=======================================>]", " 99%"),
        (1000, "[========================================]", "100%"),
    ])
    func `The bar is full at the end and not before`(completed: Int64, bar: String, percent: String) {
        let line = ProgressBar.line(.sample(completed, of: 1000), columns: 200)
        #expect(line.contains(bar))
        #expect(line.hasPrefix(percent))
    }

    @Test func `The last line has the time and rate of the whole`() {
        let line = ProgressBar.line(
            .sample(4_194_304, of: 4_194_304, rate: 2_097_152, elapsed: 2, isFinished: true),
            columns: 100
        )
        #expect(
            line == "100%  [" + String(repeating: "=", count: 40) + "]  4.00 MiB of 4.00 MiB  2.00 MiB/s  in     0:02"
        )
    }

    @Test(arguments: [
        (0.0, "[<=>            ]"), (1.0, "[      <=>      ]"), (2.0, "[            <=>]"), (3.0, "[      <=>      ]"),
        (4.0, "[<=>            ]"), (401.0, "[      <=>      ]"),
    ])
    func `A mark moves where the length is not known`(elapsed: Double, mark: String) {
        let line = ProgressBar.line(.sample(5_242_880, of: nil, elapsed: elapsed), columns: 54)
        #expect(line == "\(mark)  5.00 MiB   312 MiB/s  \"video\" (2/2)")
    }

    @Test func `A note stands where the part would, and is not cut`() {
        let line = ProgressBar.line(half, note: "12 of 200 done, 1 failed", columns: 100)
        #expect(line.hasSuffix("  ETA    0:05  12 of 200 done, 1 failed"))
        #expect(ProgressBar.line(half, note: "12 of 200 done, 1 failed", columns: 80).hasSuffix("  ETA    0:05"))
        let end = TransferProgress.sample(100, of: 100, isFinished: true)
        #expect(ProgressBar.line(end, note: "2 of 2 done", columns: 100).hasSuffix("in     0:04  2 of 2 done"))
    }

    @Test func `What was there already is said`() {
        let report = TransferProgress.sample(2048, of: 4096, resumed: 1024)
        #expect(ProgressBar.line(report, columns: 100).hasSuffix("  from 1.00 KiB"))
    }

    @Test func `A long name is cut before it is left out`() {
        let report = TransferProgress.sample(1, of: 10, name: "a-rather-long-name.mkv", rate: nil)
        #expect(ProgressBar.line(report, columns: 85).hasSuffix(#"  "a-rather-long-... (2/2)"#))
        #expect(ProgressBar.line(report, columns: 60).hasSuffix("  ETA    -:--"))
    }
}
