/** Percent-encodes by RFC 3986. */
const encode = (value) => encodeURIComponent(value).replaceAll(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
/**
 * A link to an image that is captured when it is viewed, for `<img>`, e-mail and Open Graph tags; signed without a request. Throws
 * `TypeError` if `secret` is not a link secret.
 */
export const renderLink = async ({ baseUrl, keyId, secret, expires, placeholder = false }, parameters) => {
    if (!secret.startsWith('lsk_'))
        throw new TypeError('the secret must be the text that begins with lsk_');
    const own = {
        key_id: keyId,
        ...(expires && { expires: Math.floor(expires.getTime() / 1000) }),
        ...(placeholder && { placeholder }),
    };
    const canonical = Object.entries({ ...parameters, ...own })
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => `${encode(name)}=${encode(textOf(value))}`)
        .toSorted()
        .join('&');
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const text = new TextEncoder();
    const key = await crypto.subtle.importKey('raw', text.encode(secret), hmac, false, ['sign']);
    const signature = hex(await crypto.subtle.sign('HMAC', key, text.encode(canonical)));
    return `${baseUrl.replace(/\/$/, '')}/v1/render?${canonical}&signature=${signature}`;
};
