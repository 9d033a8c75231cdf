extension MultipartError {
    /// The HTTP status that a server which refuses the body may answer with.
    ///
    /// 413 for what is too large, 431 for headers that are, 415 for a Content-Type that is not multipart, 409 for a file
    /// that is there already, 400 for anything else that is wrong with the body, and 500 where it is the server that
    /// failed.
    public var suggestedStatus: Int {
        switch code {
        case .fieldTooLarge, .totalFieldsTooLarge, .fileTooLarge, .bodyTooLarge, .tooManyParts, .limitExceeded,
            .inflatedTooLarge, .inflatedTooMuch:
            413
        case .partHeadersTooLarge, .tooManyPartHeaders, .totalHeadersTooLarge, .tooManyParameters: 431
        case .notMultipart: 415
        case .fileExists: 409
        case .invalidBoundary, .boundaryConflict, .invalidName, .invalidHeader, .invalidMediaType, .nestingTooDeep,
            .unexpectedPreamble, .invalidDelimiter, .unexpectedEnd, .missingName, .invalidText, .paddingTooLong,
            .preambleTooLong, .invalidGzip:
            400
        default: 500
        }
    }
}
