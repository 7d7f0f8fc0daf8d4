import type { CaptureParameters } from './requests.ts';
import type { Batch, CaptureError, Screenshot } from './responses.ts';
/** Parameters of a synchronous capture. The client sets `response_type`; `webhook_url` would make it asynchronous. */
export type WaitedParameters = Omit<CaptureParameters, 'response_type' | 'webhook_url'>;
/** Parameters of an asynchronous capture. */
export type CreateParameters = Omit<CaptureParameters, 'response_type'>;
/** The body of a delivery. Receivers should ignore unknown events. */
export interface WebhookEvent {
    event: string;
    data: Record<string, unknown>;
    sent_at: string;
}
export interface Image {
    /** Id of the capture. */
    id: string;
    bytes: Uint8Array<ArrayBuffer>;
    contentType: string;
    /** Whether the image was served from an earlier capture. */
    cached: boolean;
}
type OfImage = 'completed_at' | 'file_size' | 'mime_type' | 'width' | 'height' | 'processing_time_ms' | 'image_url';
/** A completed screenshot, which has an image. */
export type CompletedScreenshot = Screenshot & {
    status: 'completed';
} & Required<Pick<Screenshot, OfImage | 'cached' | 'warnings'>>;
/** A screenshot whose capture failed. */
export type FailedScreenshot = Screenshot & {
    status: 'failed';
    error: CaptureError;
};
/** A screenshot that has ended; its `status` tells which fields it has. */
export type EndedScreenshot = CompletedScreenshot | FailedScreenshot;
/** An event of a capture. Later versions may add events. */
export type CaptureEvent = {
    event: 'status';
    data: {
        status: Screenshot['status'];
        position?: number;
    };
} | {
    event: 'started';
    data: {
        started_at: string;
    };
} | {
    event: 'result';
    data: EndedScreenshot;
} | {
    event: 'deleted';
    data: {
        id: string;
    };
} | {
    event: 'unauthorized';
    data: {
        code: string;
        message: string;
    };
};
/** An event of a batch. Later versions may add events. */
export type BatchEvent = {
    event: 'status';
    data: Omit<Batch, 'id' | 'created_at' | 'screenshots'>;
} | {
    event: 'screenshot';
    data: Screenshot & {
        index: number;
    };
} | {
    event: 'result';
    data: Batch;
} | {
    event: 'deleted';
    data: {
        id: string;
    };
} | {
    event: 'unauthorized';
    data: {
        code: string;
        message: string;
    };
};
/**
 * An event of the account. `ready` begins each connection: what changed before it is not sent. `changed` stands for many captures
 * at once; with `more` others may have changed too. Later versions may add events.
 */
export type AccountEvent = {
    event: 'ready';
    data: Record<string, never>;
} | {
    event: 'accepted' | 'started';
    data: Screenshot;
} | {
    event: 'ended';
    data: EndedScreenshot;
} | {
    event: 'deleted';
    data: {
        id: string;
    };
} | {
    event: 'changed';
    data: {
        ids: string[];
        more: boolean;
    };
} | {
    event: 'unauthorized';
    data: {
        code: string;
        message: string;
    };
};
export interface ClientOptions {
    /** Such as `https://shots.example.com`, without `/v1`. */
    baseUrl: string;
    /** May be an environment variable: the client refuses `undefined` when it is created. */
    apiKey: string | undefined;
    fetch?: typeof globalThis.fetch;
    /** Retries after 429 and 503. Default: 2. */
    retries?: number;
    /** Longest `Retry-After` that is waited for. Default: 60. */
    retryWaitSeconds?: number;
    /** Time limit of one request. Default: 180,000; a synchronous capture takes at most 150 s, queue wait included. */
    timeoutMs?: number;
}
export interface CallOptions {
    signal?: AbortSignal;
}
export interface KeyedOptions extends CallOptions {
    /** Requests with the same key and parameters within 24 hours create one capture. Default: random. */
    idempotencyKey?: string;
}
export interface WaitOptions extends CallOptions {
    /** Longest wait for the capture to end. Default: 180,000. */
    waitMs?: number;
}
export interface PageOptions extends CallOptions {
    /** 1 to 100. Default: 20. */
    perPage?: number;
}
export interface ActivityFilter extends PageOptions {
    /** Earliest date or time, ISO 8601. */
    from?: string;
    /** Latest date or time, ISO 8601. */
    to?: string;
    /** Id of an API key. */
    key_id?: string;
    /** `operationId`, as in the OpenAPI document. */
    operation?: string;
}
export interface ActivityExport extends Omit<ActivityFilter, 'perPage'> {
    /** Earliest date or time, ISO 8601. */
    from: string;
}
export interface ListFilter extends PageOptions {
    status?: Screenshot['status'];
    /** Earliest date or time of creation, ISO 8601. */
    from?: string;
    /** Latest date or time of creation, ISO 8601. */
    to?: string;
    /** With its port if the URL names one that is not the default. */
    host?: string;
    /** Beginning of the URL: scheme and host at least. */
    url?: string;
    error_code?: string;
    key_id?: string;
    format?: string;
    /** `X-Request-Id` of the request. */
    request_id?: string;
    /** HTTP status of the page. */
    target_status?: number;
}
/** Filter of a list of batches. */
export interface BatchFilter extends PageOptions {
    status?: Batch['status'];
}
export {};
