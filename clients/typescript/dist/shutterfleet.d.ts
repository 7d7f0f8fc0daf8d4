import type { AccountEvent, ActivityExport, ActivityFilter, BatchEvent, CallOptions, CaptureEvent, ClientOptions, CreateParameters, EndedScreenshot, Image, KeyedOptions, BatchFilter, ListFilter, PageOptions, WaitedParameters, WaitOptions } from './options.ts';
import { Keys } from './keys.ts';
import { Members } from './members.ts';
import { UploadDestinations } from './upload-destinations.ts';
import { Webhooks } from './webhooks.ts';
import type { BatchParameters } from './requests.ts';
import type { Account, ActivityEntry, Batch, BatchSummary, Delivery, Screenshot, SignedUrl, TargetLists, Usage, QueuedDelivery } from './responses.ts';
export { ShutterfleetError } from './shutterfleet-error.ts';
export type * from './options.ts';
export { renderLink } from './render-link.ts';
export type { LinkCaptureParameters, LinkOptions } from './render-link.ts';
export { verifyWebhook } from './verify-webhook.ts';
export type * from './requests.ts';
export type * from './screenshot-options.ts';
export type * from './responses.ts';
/** A client of one account. Every method throws `ShutterfleetError` if the service rejects the request. */
export declare class Shutterfleet {
    #private;
    readonly webhooks: Webhooks;
    readonly uploadDestinations: UploadDestinations;
    readonly keys: Keys;
    readonly members: Members;
    /** Throws `TypeError` if `baseUrl` is not an http or https URL, or `apiKey` is missing. */
    constructor({ baseUrl, apiKey, fetch, retries, retryWaitSeconds, timeoutMs, }: ClientOptions);
    /** Captures and returns the image. Throws with the capture's error code if it fails. */
    capture(parameters: WaitedParameters, options?: KeyedOptions & WaitOptions): Promise<Image>;
    /** Captures and returns the record of the ended capture, also of a failed one. */
    captureRecord(parameters: WaitedParameters, options?: KeyedOptions & WaitOptions): Promise<EndedScreenshot>;
    /** Creates a capture without waiting for it. */
    create(parameters: CreateParameters, options?: KeyedOptions): Promise<Screenshot>;
    /** The current record. `wait`: seconds to wait for the capture to end, at most 60. */
    status(id: string, { wait, signal }?: CallOptions & {
        wait?: number;
    }): Promise<Screenshot>;
    /** The record once the capture has completed or failed. Throws `NOT_READY` after `waitMs`. */
    waitFor(id: string, { waitMs, signal }?: WaitOptions): Promise<EndedScreenshot>;
    image(id: string, { signal }?: CallOptions): Promise<Image>;
    /** An output or a rendition, by its name: `html`, `rendition-1`. */
    file(id: string, name: string, { signal }?: CallOptions): Promise<Image>;
    /** Type, size and ETag of an image without its bytes. */
    describeImage(id: string, { signal }?: CallOptions): Promise<{
        contentType: string;
        bytes: number;
        etag: string;
    }>;
    /** All captures that match, newest first; a page is requested when its first entry is read. */
    list(filter?: ListFilter): AsyncGenerator<Screenshot, void>;
    batch(parameters: BatchParameters, options?: KeyedOptions): Promise<Batch>;
    /** All batches that match, newest first, without their captures. */
    batches(filter?: BatchFilter): AsyncGenerator<BatchSummary, void>;
    batchStatus(id: string, { signal }?: CallOptions): Promise<Batch>;
    delete(id: string, { signal }?: CallOptions): Promise<void>;
    /** A link to the image that needs no key. `expiresIn` in minutes, 0 for no expiry. Default: 60. */
    signedUrl(id: string, { expiresIn, signal }?: CallOptions & {
        expiresIn?: number;
    }): Promise<SignedUrl>;
    account({ signal }?: CallOptions): Promise<Account>;
    /** The usage of this month, and with `from` or `to` (ISO dates) that of each of up to 100 days in `days`. */
    usage({ from, to, signal }?: CallOptions & {
        from?: string;
        to?: string;
    }): Promise<Usage>;
    /** Which targets captures of the account may and may not reach. */
    targets({ signal }?: CallOptions): Promise<TargetLists>;
    /** Replaces both lists of targets, for captures that are accepted from then on. Returns their normal form. */
    replaceTargets(lists: TargetLists, { signal }?: CallOptions): Promise<TargetLists>;
    /** What the requests of the account did, newest first. */
    activity(filter?: ActivityFilter): AsyncGenerator<ActivityEntry, void>;
    /** What the requests of the account have done since `from`, newest first, in one response. Throws if that breaks off. */
    exportActivity(filter: ActivityExport): AsyncGenerator<ActivityEntry, void>;
    /** Events of a capture up to `result` or `deleted`; reconnects if the connection ends earlier. */
    events(id: string, { signal }?: CallOptions): AsyncGenerator<CaptureEvent, void>;
    /** Events of a batch up to `result` or `deleted`; reconnects if the connection ends earlier. */
    batchEvents(id: string, { signal }?: CallOptions): AsyncGenerator<BatchEvent, void>;
    /** Events of all captures of the account, until it is aborted; it reconnects, and each connection begins with `ready`. */
    accountEvents({ signal }?: CallOptions): AsyncGenerator<AccountEvent, void>;
    /** Deliveries of a capture, to webhooks and to its `webhook_url`, newest first. */
    deliveries(id: string, options?: PageOptions): AsyncGenerator<Delivery, void>;
    redeliver(id: string, deliveryId: string, { signal }?: CallOptions): Promise<QueuedDelivery>;
}
