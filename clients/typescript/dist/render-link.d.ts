import type { CaptureParameters } from './requests.ts';
/** Parameters of a link: those of a capture without credentials and without what is not an image. */
export type LinkCaptureParameters = Omit<CaptureParameters, 'headers' | 'cookies' | 'local_storage' | 'header_origins' | 'session_storage' | 'proxy' | 'webhook_url' | 'upload_to' | 'upload_key' | 'response_type' | 'outputs' | 'renditions' | 'extract_metadata'>;
export interface LinkOptions {
    /** Such as `https://shots.example.com`, without `/v1`. */
    baseUrl: string;
    /** Id of the API key, not the key. */
    keyId: string;
    /** Its link secret, which `keys.rotateLinkSecret` returned. */
    secret: string;
    /** Time from which the link is refused. Default: never. */
    expires?: Date;
    /** Whether a grey image is shown while the first capture is made. */
    placeholder?: boolean;
}
/**
 * A link to an image that is captured when it is viewed, for `<img>`, e-mail and Open Graph tags; signed without a request. Throws
 * `TypeError` if `secret` is not a link secret.
 */
export declare const renderLink: ({ baseUrl, keyId, secret, expires, placeholder }: LinkOptions, parameters: LinkCaptureParameters) => Promise<string>;
