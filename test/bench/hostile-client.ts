import { connect } from 'node:net'
import { testKey } from '#test/helpers/gateway-context.ts'
import type { HostileRequest } from './hostile-requests.ts'

// Is told a request, which it confirms, and then sends it as often as it is asked to, each time on a connection of its own; says
// the status of each answer.
const port = Number(process.argv[2])
let request: HostileRequest = { name: '', head: '', body: '' }

const send = ({ head, body }: HostileRequest) => {
  const socket = connect(port, '127.0.0.1')
  const type = 'content-type: application/json\r\nconnection: close\r\nhost: a\r\n'
  socket.write(`${head}authorization: Bearer ${testKey}\r\n${type}\r\n`)
  socket.end(body)
  let answer = ''
  socket.setEncoding('latin1').on('data', (data: string) => (answer += data))
  socket.on('error', () => {})
  socket.on('close', () => process.send?.(answer.slice(9, 12)))
}

process.on('message', (message: HostileRequest | 'send') => {
  if (message === 'send') return send(request)
  request = message
  process.send?.('told')
})
