import SluiceTestSupport
import Testing

@testable import Sluice

/// How many cores a quota of CPU time comes to, in made-up file systems.
@Suite struct AvailableCoresTests {
    private func quota(_ files: [String: String]) throws -> Int? {
        let directory = try TemporaryDirectory()
        for (path, text) in files {
            var parent = directory.path
            for component in path.split(separator: "/").dropLast() {
                parent += "/\(component)"
                try? Files.makeDirectory(parent)
            }
            try directory.file(path, Array(text.utf8))
        }
        return AvailableCores.quota(in: directory.path + "/")
    }

    @Test(arguments: [
        ("max 100000\n", nil), ("200000 100000\n", 2), ("150000 100000\n", 2), ("50000 100000\n", 1),
        ("1 100000\n", 1), ("0 100000\n", nil), ("-1 100000\n", nil), ("", nil), ("200000\n", nil),
        ("200000 0\n", nil), ("9223372036854775807 1\n", Int.max),
    ])
    func `A quota of version 2 is rounded up`(text: String, cores: Int?) throws {
        #expect(try quota(["proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": text]) == cores)
    }

    @Test func `The least quota of all groups around counts`() throws {
        let files = [
            "proc/self/cgroup": "0::/a/b/c\n",
            "sys/fs/cgroup/a/cpu.max": "300000 100000\n",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
            "sys/fs/cgroup/a/b/c/cpu.max": "800000 100000\n",
        ]
        #expect(try quota(files) == 3)
    }

    @Test func `In a container whose path is the host's, the quota is the root's`() throws {
        let files = ["proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/cpu.max": "400000 100000\n"]
        #expect(try quota(files) == 4)
        #expect(try quota(["proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/cpu.max": "400000 100000\n"]) == 4)
    }

    @Test(arguments: ["cpu,cpuacct", "cpu", "cpuacct,cpu"])
    func `Version 1 has it in two files`(controllers: String) throws {
        let groups = "12:memory:/x\n5:\(controllers):/x\n1:name=systemd:/x\n"
        for mount in Set([controllers, "cpu"]) {
            let base = "sys/fs/cgroup/\(mount)/x/cpu.cfs_"
            let files = ["proc/self/cgroup": groups, "\(base)quota_us": "250000\n", "\(base)period_us": "100000\n"]
            #expect(try quota(files) == 3)
            let without = ["proc/self/cgroup": groups, "\(base)quota_us": "-1\n", "\(base)period_us": "100000\n"]
            #expect(try quota(without) == nil)
        }
    }

    @Test func `Without groups there is no quota`() throws {
        #expect(try quota([:]) == nil)
        #expect(try quota(["proc/self/cgroup": "nonsense\n::\n"]) == nil)
    }

    @Test func `This machine has as many as nproc says, at most`() throws {
        let cores = try #require(Int(ChildProcess.firstLine(of: "nproc")))
        #expect((1...cores).contains(AvailableCores.count))
    }
}
