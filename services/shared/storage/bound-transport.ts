import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'

/** What opens requests to a store: `node:http` or `node:https`. */
export type Transport = {
  readonly request: (options: RequestOptions, onAnswer: (answer: IncomingMessage) => void) => ClientRequest
}

const tooLate = (ms: number) => new Error(`no answer for ${ms} ms`)

/** Bounds requests as a whole, from the connection to the last byte of the answer: for small ones. */
export const boundWhole = (transport: Transport, wholeMs: number): Transport => ({
  request: (options, onAnswer) => {
    let answer: IncomingMessage | undefined
    const request = transport.request(options, (given) => {
      answer = given
      onAnswer(given)
    })
    const timer = setTimeout(() => (answer ?? request).destroy(tooLate(wholeMs)), wholeMs)
    request.once('close', () => clearTimeout(timer))
    return request
  },
})

/**
 * Bounds requests whose answers may be long: `idleMs` for the head of the answer, then as long for each next byte. A reader
 * that is slow itself does not count: while it leaves bytes waiting, the store owes it nothing.
 */
export const boundIdle = (transport: Transport, idleMs: number): Transport => ({
  request: (options, onAnswer) => {
    const request = transport.request({ ...options, timeout: idleMs }, (answer) => {
      clearTimeout(timer)
      request.on('timeout', () => {
        if (answer.readableLength === 0) answer.destroy(tooLate(idleMs))
        else answer.socket.setTimeout(idleMs)
      })
      onAnswer(answer)
    })
    const timer = setTimeout(() => request.destroy(tooLate(idleMs)), idleMs)
    request.once('close', () => clearTimeout(timer))
    return request
  },
})
