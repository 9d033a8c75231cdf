import Sluice

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// A descriptor that the caller has closed would be given to the next file that is opened, and that file then be taken
// for standard output. Opened the wrong way round, the first use of it is an error.
for (descriptor, mode) in [(Descriptor.standardInput, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
where fcntl(descriptor, F_GETFD) < 0 {
    _ = unsafe open("/dev/null", mode)
}

// Swift's tasks wait without end for a thread where the system has none to give: better to know it now.
do {
    try WorkerThread.start("sluice") {}
} catch {
    Console.standardError.print("sluice: the system has no thread to give: \(error)")
    exit(ExitCode.software.rawValue)
}

Signals.block()
Task.detached {
    let exitCode = await Tool.run()
    Signals.endIfReceived()
    exit(exitCode.rawValue)
}
Signals.waitForever()
