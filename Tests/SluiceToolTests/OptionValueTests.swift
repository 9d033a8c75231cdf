import Testing

@testable import SluiceTool

@Suite struct OptionValueTests {
    /// As curl's manual has it for `--cert`: "a colon within the name has to be escaped by a backslash, and so does a
    /// backslash".
    @Test(arguments: [
        ("client.pem", "client.pem", nil),
        ("client.pem:open sesame", "client.pem", "open sesame"),
        ("client.pem:", "client.pem", ""),
        ("client.pem:a:b", "client.pem", "a:b"),
        (#"c\:lient.pem:a\:b"#, "c:lient.pem", #"a\:b"#),
        (#"c\\:a"#, #"c\"#, "a"),
        (#"c\lient"#, #"c\lient"#, nil),
        (#"c\"#, #"c\"#, nil),
        ("", "", nil),
    ])
    func `A certificate's name may be followed by its passphrase`(text: String, file: String, passphrase: String?) {
        let certificate = SecretValue.certificate(text)
        #expect(certificate.file == file)
        #expect(certificate.passphrase == passphrase)
    }

    @Test(arguments: [("a:b", "a", "b"), ("a:b:c", "a", "b:c"), (":", "", ""), ("ä:\u{301}", "ä", "\u{301}")])
    func `A user ends at the first colon`(text: String, user: String, password: String) throws {
        let credentials = try #require(SecretValue.credentials(text))
        #expect(credentials.user == user)
        #expect(credentials.password == password)
        #expect(SecretValue.credentials("a") == nil)
    }

    @Test(arguments: [("0", 0), ("1", 1), ("1K", 1024), ("1k", 1024), ("64M", 64 << 20), ("2g", 2 << 30)])
    func `A number of bytes may have a unit`(text: String, bytes: Int) throws {
        #expect(try ParsedArguments.Given(option: .limitRate, value: text).bytes() == bytes)
    }

    @Test(arguments: ["", "K", "-1", "1.5M", "1KB", "9999999999999999999", "9999999999G", "٣"])
    func `What is no number of bytes is refused`(text: String) {
        #expect(throws: ToolError.self) { try ParsedArguments.Given(option: .limitRate, value: text).bytes() }
    }
}
