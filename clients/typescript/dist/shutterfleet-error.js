const withFirstDetail = (message, details = {}) => {
    const [first] = Object.entries(details);
    return first === undefined ? message : `${message} ${first[0]}: ${first[1][0]}`;
};
/** An error response of the service, a failed capture, or a service that is not reachable. Its message ends with the first of the details. */
export class ShutterfleetError extends Error {
    name = 'ShutterfleetError';
    /** Stable: see the service's docs/errors.md. `UNEXPECTED_ANSWER` if the response is not one of the service, `UNREACHABLE` without a response. */
    code;
    /** HTTP status; undefined without a response, and if the request succeeded and its capture failed later. */
    status;
    /** Validation errors by parameter, of `VALIDATION_ERROR`. */
    details;
    requestId;
    /** Where the error is explained. */
    docUrl;
    /** Seconds after which the same request may succeed. */
    retryAfter;
    /** The capture that failed, or may have been accepted. */
    screenshotId;
    constructor({ code, message, status, details, requestId, docUrl, retryAfter, screenshotId }) {
        super(withFirstDetail(message, details));
        this.code = code;
        this.status = status;
        this.details = details;
        this.requestId = requestId;
        this.docUrl = docUrl;
        this.retryAfter = retryAfter;
        this.screenshotId = screenshotId;
    }
}
/** Names the address, and the reason that `fetch` has in the cause of its error. */
export const unreachableError = (baseUrl, cause) => {
    const { message } = cause.cause instanceof Error ? cause.cause : cause;
    const error = new ShutterfleetError({
        code: 'UNREACHABLE',
        message: `The service at ${baseUrl} is not reachable: ${message}`,
        status: undefined,
    });
    error.cause = cause;
    return error;
};
const secondsOf = (text) => (text !== null && /^\d{1,9}$/.test(text) ? Number(text) : undefined);
/** Reads an error response. One without the service's envelope, such as a proxy's page, becomes `UNEXPECTED_ANSWER`. */
export const readError = async (response) => {
    const body = (await response.json().catch(() => undefined));
    const { error = {} } = body ?? {};
    return new ShutterfleetError({
        code: error.code ?? 'UNEXPECTED_ANSWER',
        message: error.message ?? `The response has status ${response.status} and no error in the service's format.`,
        status: response.status,
        details: error.details,
        requestId: error.request_id ?? response.headers.get('x-request-id') ?? undefined,
        docUrl: error.doc_url,
        retryAfter: secondsOf(response.headers.get('retry-after')) ?? error.retry_after,
        screenshotId: error.screenshot_id,
    });
};
