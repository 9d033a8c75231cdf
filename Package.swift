// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "sluice",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Sluice", targets: ["Sluice"]),
        .library(name: "SluiceFoundation", targets: ["SluiceFoundation"]),
        .library(name: "SluiceCurl", targets: ["SluiceCurl"]),
        .executable(name: "sluice", targets: ["SluiceTool"]),
        .executable(name: "sluice-bench", targets: ["SluiceBench"]),
        // Loaded into the process in which the benchmark counts what is copied, and linked by nobody.
        .library(name: "SluiceCopyCounter", type: .dynamic, targets: ["CSluiceCopyCounter"]),
    ],
    targets: [
        .target(name: "CSluiceShims"),
        .target(name: "CSluiceTool"),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        .systemLibrary(
            name: "CCrypto",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl"])]
        ),
        .systemLibrary(
            name: "CMicroHTTPD",
            pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"]), .brew(["libmicrohttpd"])]
        ),
        .target(name: "Sluice", dependencies: ["CSluiceShims", "CZlib"]),
        .target(name: "SluiceFoundation", dependencies: ["Sluice"]),
        .target(name: "SluiceCurl", dependencies: ["Sluice", "CCurl", "CCrypto", "CZlib"]),
        .executableTarget(
            name: "SluiceTool",
            dependencies: ["Sluice", "SluiceCurl", "CSluiceTool", "CCrypto", "CMicroHTTPD"]
        ),
        .executableTarget(
            name: "SluiceBench",
            dependencies: [
                "Sluice", "SluiceFoundation", "SluiceCurl", "CCurl", "CZlib", "CSluiceShims", "CSluiceBench",
            ],
            path: "Benchmarks/SluiceBench"
        ),
        .target(name: "CSluiceBench", path: "Benchmarks/CSluiceBench"),
        .target(name: "CSluiceCopyCounter", path: "Benchmarks/CSluiceCopyCounter"),
        .target(name: "CSluiceTestSupport", path: "Tests/CSluiceTestSupport"),
        .target(
            name: "SluiceTestSupport",
            dependencies: ["Sluice", "CSluiceShims", "CSluiceTestSupport"],
            path: "Tests/SluiceTestSupport"
        ),
        .executableTarget(
            name: "SluiceSoak",
            dependencies: ["Sluice", "SluiceFoundation", "SluiceCurl", "SluiceTestSupport"],
            path: "Tests/Soak"
        ),
        .testTarget(name: "SluiceTests", dependencies: ["Sluice", "SluiceTestSupport"]),
        .testTarget(
            name: "SluiceFoundationTests",
            dependencies: ["SluiceFoundation", "SluiceTestSupport"]
        ),
        .testTarget(name: "SluiceCurlTests", dependencies: ["SluiceCurl", "SluiceTestSupport"]),
        .testTarget(name: "SluiceBenchTests", dependencies: ["SluiceBench", "SluiceTestSupport"]),
        .testTarget(name: "SluiceToolTests", dependencies: ["SluiceTool", "SluiceTestSupport"]),
    ],
    swiftLanguageModes: [.v6]
)

// libFuzzer needs every module to be built for it, so only `make fuzz` has this target.
if Context.environment["SLUICE_FUZZ"] != nil {
    package.targets += [
        .target(name: "CSluiceFuzz", path: "Tests/Fuzz/CSluiceFuzz"),
        .executableTarget(
            name: "SluiceFuzz",
            dependencies: ["CSluiceFuzz", "SluiceTestSupport"],
            path: "Tests/Fuzz/SluiceFuzz",
            // Files of the tool and of its tests are linked into this target, which cannot import them.
            swiftSettings: [.define("SLUICE_FUZZ")]
        ),
    ]
}

// One set of rules for every Swift target; those named C... are C. Warnings become errors on the command line of
// `make`, not here, so that a newer compiler's new warnings do not break those who depend on the package.
for target in package.targets where target.type != .system && !target.name.hasPrefix("C") {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .strictMemorySafety(),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableUpcomingFeature("InferIsolatedConformances"),
            .enableUpcomingFeature("ImmutableWeakCaptures"),
        ]
}
