/** Whether an `If-None-Match` names the content that a client would get, by its strong validator. */
export const isUnchanged = (header: string | undefined, etag: string): boolean =>
  header !== undefined && header.split(',').some((each) => ['*', etag, `W/${etag}`].includes(each.trim()))
