enum MediaTypeTable { static func mediaType(forExtension: String) -> String? { nil } }
