import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'

/** Opens requests to a store: `node:http` or `node:https`. */
export type Transport = {
  readonly request: (options: RequestOptions, onAnswer: (answer: IncomingMessage) => void) => ClientRequest
}

const tooLate = (ms: number) => new Error(`no response for ${ms} ms`)

/** Bounds each whole request, from the connection to the last byte of the response; for small responses. */
export const boundWhole = (transport: Transport, wholeMs: number): Transport => ({
  request: (options, onAnswer) => {
    let answer: IncomingMessage | undefined
    const request = transport.request(options, (response) => {
      answer = response
      onAnswer(response)
    })
    const timer = setTimeout(() => (answer ?? request).destroy(tooLate(wholeMs)), wholeMs)
    request.once('close', () => clearTimeout(timer))
    return request
  },
})

/**
 * Bounds requests whose responses may be long: `idleMs` for the head of the response, then the same for each next
 * byte. Time during which the reader has not read the received bytes does not count.
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
