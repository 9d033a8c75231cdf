import SluiceTestSupport
import Testing

/// What a proxy answers to CONNECT is not the server's answer: anybody on the way to it could have written it.
@Suite(.timeLimit(.minutes(2))) struct ProxyTests {
    @Test(arguments: ["http", "https"])
    func `A proxy that refuses to connect is no answer of the server's`(scheme: String) async throws {
        let proxy = try ServerProcess("raw_server.py", "--mode", "413-early")
        let run = try await shell(
            #"env -u no_proxy -u NO_PROXY "$2_proxy=$1" "$sluice" upload "$2://bank.invalid/" -F a=b --progress none"#,
            proxy.url("/"),
            scheme
        )
        if scheme == "https" {
            #expect(run.status == 74)
            #expect(run.output == [])
            #expect(run.errors.contains("413"))
        } else {
            // Over plain HTTP the proxy answers for the server; that is what it is for.
            #expect(run.status == 0)
        }
    }

    @Test func `A proxy's redirect does not lead the body elsewhere`() async throws {
        let thief = try ServerProcess("upload_server.py")
        let proxy = try ServerProcess("connect_proxy.py", "--location", thief.url("/upload"))
        let run = try await shell(
            #"env -u no_proxy https_proxy="$1" "$sluice" upload https://bank.invalid/ -L -F a=b --progress none"#,
            proxy.url("/")
        )
        #expect(run.status == 74)
        #expect(run.output == [])
    }
}
