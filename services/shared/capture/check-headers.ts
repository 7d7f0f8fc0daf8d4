import type { Report } from './faults.ts'

/** A token of RFC 9110 §5.6.2, at most 100 characters. */
const nameForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/

/** What belongs to the connection or decides where a request goes, and a name that is dangerous as a key. */
const forbidden: readonly string[] = [
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'upgrade',
  'te',
  'trailer',
  'keep-alive',
  '__proto__',
]

const isForbidden = (name: string): boolean => forbidden.includes(name) || name.startsWith('proxy-')

/** Checks the names of the headers that a capture sends to its target; all else of them is the schema's matter. */
export const checkHeaders = (headers: unknown, report: Report): void => {
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return
  for (const name of Object.keys(headers)) {
    if (!nameForm.test(name)) report(`headers.${name}`, 'the name must be an HTTP token of 1 to 100 characters')
    else if (isForbidden(name.toLowerCase())) report(`headers.${name}`, 'must not be set')
  }
}
