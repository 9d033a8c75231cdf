import Testing

@testable import SluiceTool

@Suite struct UsageTests {
    static let helps = [
        Usage.tool, EncodeCommand.help, UploadCommand.help, DownloadCommand.help, DecodeCommand.help,
        ReceiveCommand.help,
    ]

    @Test(arguments: helps)
    func `Help fits a terminal of 80 columns`(help: String) {
        for line in help.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
    }

    @Test(arguments: helps)
    func `Help names every exit status`(help: String) {
        for code in ExitCode.allCases { #expect(help.contains(" \(code.rawValue)  \(code.meaning)\n")) }
    }

    @Test func `Help names every option of its command`() {
        let commands = [
            (EncodeCommand.groups, EncodeCommand.help), (UploadCommand.groups, UploadCommand.help),
            (DownloadCommand.groups, DownloadCommand.help),
            (DecodeCommand.groups, DecodeCommand.help), (ReceiveCommand.groups, ReceiveCommand.help),
        ]
        for (groups, help) in commands {
            for option in groups.flatMap(\.options) { #expect(help.contains("--\(option.rawValue)")) }
        }
    }
}
