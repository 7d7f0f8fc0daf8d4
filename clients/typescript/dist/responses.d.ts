import type { ScreenshotOptions, CompletedScreenshotOptions } from './screenshot-options.ts';
export type * from './account-responses.ts';
/** A screenshot. Fields that its state has not reached are absent, not null. */
export interface Screenshot {
    /** Id of the screenshot. */
    id: string;
    /** URL of the source, with its password masked; null if the source is HTML or Markdown. */
    url: string | null;
    options: ScreenshotOptions | CompletedScreenshotOptions;
    /** Time of acceptance. */
    created_at: string;
    status: 'pending' | 'processing' | 'completed' | 'failed';
    /** Id of the batch, if the screenshot belongs to one. */
    batch_id?: string;
    upload?: ScreenshotUpload;
    /** Start time of the latest attempt. */
    started_at?: string;
    /** Duration of each stage of the attempt, in milliseconds. `queue` is the wait between the request and the worker, `commit` the time between the result and the record; `total` is the time in the worker, from `open` to `store`. */
    timings?: {
        queue?: number;
        claim?: number;
        open?: number;
        navigate?: number;
        prepare?: number;
        settle?: number;
        shoot?: number;
        encode?: number;
        inspect?: number;
        store?: number;
        total?: number;
        commit?: number;
    };
    /** End time of the capture. */
    completed_at?: string;
    /** Size of the image in bytes. */
    file_size?: number;
    /** Media type of the image. */
    mime_type?: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/avif' | 'image/tiff' | 'application/pdf';
    /** Width of the image in pixels. */
    width?: number;
    /** Height of the image in pixels; a full-page capture may be higher than the viewport. */
    height?: number;
    /** Duration of the capture in milliseconds. */
    processing_time_ms?: number;
    /** URL of the image. It requires the API key; a signed URL does not. */
    image_url?: string;
    /** Whether the result was reused from an earlier capture, at no charge. */
    cached?: boolean;
    /** Ways in which the result differs from the request. More codes may be added. */
    warnings?: Warning[];
    /** Content of the page that was requested with `outputs`, and could be read. */
    outputs?: StoredOutput[];
    /** Images that were requested with `renditions`, in the same order. */
    renditions?: StoredRendition[];
    metadata?: PageMetadata;
    /** End of the retention of the image. Afterwards the image returns 410; the record remains. */
    expires_at?: string;
    /** HTTP status of the page. A page that returns 404 is captured like any other. */
    target_status?: number;
    /** URL of the page after all redirects, with its password masked. */
    final_url?: string;
    error?: CaptureError;
}
/** Upload of the image, if requested with `upload_to`. It never changes the result of the capture. */
export interface ScreenshotUpload {
    /** `pending` until the image is uploaded or given up; `failed`: no further attempt is scheduled. */
    status: 'pending' | 'succeeded' | 'failed';
    /** Name of the bucket; null until the capture is completed. */
    bucket: string | null;
    /** Key of the object; null until the capture is completed. */
    key: string | null;
    /** Attempts so far. */
    attempts: number;
    /** HTTP status of the latest response; null if there was none. */
    http_status: number | null;
    /** Why the latest attempt failed, or `destination_deleted`; null if it succeeded, or there was none. */
    error: 'status' | 'redirect' | 'blocked' | 'dns_failed' | 'connection_failed' | 'tls_failed' | 'timeout' | 'bad_answer' | 'expired' | 'access_denied' | 'no_such_bucket' | 'image_missing' | 'destination_deleted' | null;
}
export interface Warning {
    /** Machine-readable code: `truncated`, `quality_ignored`, `parameter_ignored`, `selector_not_found`, `blank`, `undecoded_images` and others. */
    code: string;
    /** Human-readable message. */
    message: string;
}
export interface StoredOutput {
    /** Name of the output. */
    name: 'html' | 'text' | 'markdown' | 'links' | 'accessibility' | 'mhtml' | 'har' | 'console';
    /** URL of the file. It requires the API key. */
    url: string;
    /** Media type of the file. */
    mime_type: string;
    /** Size of the file in bytes. */
    file_size: number;
}
export interface StoredRendition {
    /** URL of the file. It requires the API key. */
    url: string;
    /** Media type of the file. */
    mime_type: string;
    /** Size of the file in bytes. */
    file_size: number;
    /** Width of the image in pixels. */
    width: number;
    /** Height of the image in pixels. */
    height: number;
}
/** Metadata of the page, if requested with `extract_metadata`. Values that the page does not declare are absent; URLs are absolute, http or https. */
export interface PageMetadata {
    /** Title of the page, at most 500 characters. */
    title?: string;
    /** Description of the page, at most 1,000 characters. */
    description?: string;
    /** Canonical URL of the page. */
    canonical?: string;
    /** `lang` attribute of the root element. */
    language?: string;
    /** URL of the icon, if the page declares one. */
    favicon?: string;
    /** Tags whose name begins with `og:`, keyed without that prefix, such as `image` and `image:width`; the first value of a repeated tag. */
    og?: Record<string, string>;
    /** Tags whose name begins with `twitter:`, keyed without that prefix, such as `card`; the first value of a repeated tag. */
    twitter?: Record<string, string>;
}
export interface CaptureError {
    /** Reason for the failure. */
    code: 'TIMEOUT' | 'DNS_FAILED' | 'CONNECTION_FAILED' | 'BLOCKED' | 'INVALID_URL' | 'RENDER_ERROR' | 'JOB_FAILED';
    /** Human-readable message. */
    message: string;
}
export interface AcceptedScreenshot {
    /** Id of the screenshot. */
    id: string;
    /** URL of the source, with its password masked; null if the source is HTML or Markdown. */
    url: string | null;
    options: ScreenshotOptions;
    /** Time of acceptance. */
    created_at: string;
    /** `pending`; if the request repeats an earlier one, the current status of its screenshot. */
    status: 'pending' | 'processing' | 'completed' | 'failed';
}
export interface BatchSummary {
    /** Id of the batch. */
    id: string;
    /** `pending`: no screenshot has started. `completed`: all have ended; some may have failed. */
    status: 'pending' | 'processing' | 'completed';
    /** Number of screenshots in the batch, including deleted ones. */
    total: number;
    /** Number of pending screenshots. */
    pending: number;
    /** Number of screenshots being processed. */
    processing: number;
    /** Number of completed screenshots. */
    completed: number;
    /** Number of failed screenshots. */
    failed: number;
    /** Time of acceptance. */
    created_at: string;
}
export interface Batch {
    /** Id of the batch. */
    id: string;
    /** `pending`: no screenshot has started. `completed`: all have ended; some may have failed. */
    status: 'pending' | 'processing' | 'completed';
    /** Number of screenshots in the batch, including deleted ones. */
    total: number;
    /** Number of pending screenshots. */
    pending: number;
    /** Number of screenshots being processed. */
    processing: number;
    /** Number of completed screenshots. */
    completed: number;
    /** Number of failed screenshots. */
    failed: number;
    /** Time of acceptance. */
    created_at: string;
    /** Screenshots of the batch in the order of the request, without deleted ones. */
    screenshots: BatchMember[];
}
export interface BatchMember {
    /** Index of the URL in the request, starting at 0. */
    index: number;
    /** Id of the screenshot. */
    id: string;
    /** Status of the screenshot. */
    status: 'pending' | 'processing' | 'completed' | 'failed';
    /** URL of the source, with its password masked. */
    url: string | null;
    options: ScreenshotOptions | CompletedScreenshotOptions;
    /** Time of acceptance. */
    created_at: string;
}
