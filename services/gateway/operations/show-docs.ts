import type { Operation } from './operation.ts'
import { showPrinted } from './show-printed.ts'

/** `GET /docs`: the interface as a page. Needs no key; parameters are ignored. It may load nothing and run nothing. */
export const showDocs: Operation = async ({ reference }, exchange) =>
  showPrinted(exchange, reference.page(), {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
  })
