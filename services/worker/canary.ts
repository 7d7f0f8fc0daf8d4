import { createServer, type Server } from 'node:net'

/** Listens on the worker's own loopback, where no page may ever be heard. */
export type Canary = {
  /** To listen on 127.0.0.1, port 0. */
  readonly server: Server
  /** Connections since the start. */
  readonly heard: () => number
}

/** Makes a canary that counts who connects, answers nothing, and calls `onHeard` each time. */
export const createCanary = (onHeard: () => void): Canary => {
  let heard = 0
  const server = createServer((client) => {
    heard += 1
    onHeard()
    client.destroy()
  })
  return { server, heard: () => heard }
}

/** A page that tries to reach the canary in every way that pages have, and gets the element `settled` when it has tried all. */
export const canaryPage = (port: number): string => `<!doctype html><title>canary</title>
<img src="http://127.0.0.1:${port}/image" alt="">
<script>
  const socket = new WebSocket('ws://localhost:${port}/socket')
  const tries = [
    fetch('http://127.0.0.1:${port}/fetch', { mode: 'no-cors' }),
    new Promise((done) => { socket.onerror = socket.onopen = done }),
  ]
  Promise.allSettled(tries).then(() => { document.body.id = 'settled' })
</script>
<body>ready</body>`
