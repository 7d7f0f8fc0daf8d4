type ErrorFields = {
    readonly code: string;
    readonly message: string;
    readonly status: number | undefined;
    readonly details?: Readonly<Record<string, readonly string[]>> | undefined;
    readonly requestId?: string | undefined;
    readonly docUrl?: string | undefined;
    readonly retryAfter?: number | undefined;
    readonly screenshotId?: string | undefined;
};
/** An error response of the service, a failed capture, or a service that is not reachable. Its message ends with the first of the details. */
export declare class ShutterfleetError extends Error {
    readonly name = "ShutterfleetError";
    /** Stable: see the service's docs/errors.md. `UNEXPECTED_ANSWER` if the response is not one of the service, `UNREACHABLE` without a response. */
    readonly code: string;
    /** HTTP status; undefined without a response, and if the request succeeded and its capture failed later. */
    readonly status: number | undefined;
    /** Validation errors by parameter, of `VALIDATION_ERROR`. */
    readonly details: Readonly<Record<string, readonly string[]>> | undefined;
    readonly requestId: string | undefined;
    /** Where the error is explained. */
    readonly docUrl: string | undefined;
    /** Seconds after which the same request may succeed. */
    readonly retryAfter: number | undefined;
    /** The capture that failed, or may have been accepted. */
    readonly screenshotId: string | undefined;
    constructor({ code, message, status, details, requestId, docUrl, retryAfter, screenshotId }: ErrorFields);
}
/** Names the address, and the reason that `fetch` has in the cause of its error. */
export declare const unreachableError: (baseUrl: string, cause: TypeError) => ShutterfleetError;
/** Reads an error response. One without the service's envelope, such as a proxy's page, becomes `UNEXPECTED_ANSWER`. */
export declare const readError: (response: Response) => Promise<ShutterfleetError>;
export {};
