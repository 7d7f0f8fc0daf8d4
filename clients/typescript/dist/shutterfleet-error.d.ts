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
/** An error response of the service, or a failed capture. Its message ends with the first of the details. */
export declare class ShutterfleetError extends Error {
    readonly name = "ShutterfleetError";
    /** Stable: see the service's docs/errors.md. `UNEXPECTED_ANSWER` if the response is not one of the service. */
    readonly code: string;
    /** HTTP status; undefined if the request succeeded and its capture failed later. */
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
/** Reads an error response. One without the service's envelope, such as a proxy's page, becomes `UNEXPECTED_ANSWER`. */
export declare const readError: (response: Response) => Promise<ShutterfleetError>;
export {};
