// Receives webhooks and verifies their signature: SECRET=whsec_... PORT=8081 node webhook-receiver.mts
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook } from '@shutterfleet/client'

const { SECRET: secret = '', PORT: port = '8081' } = process.env

const server = createServer(async (request, response) => {
  try {
    const { event, data } = await verifyWebhook(secret, request.headers, await buffer(request))
    // A delivery can arrive more than once: process each data.id only once.
    console.log(event, data['id'])
    response.writeHead(204).end()
  } catch (error) {
    console.log('refused:', (error as Error).message)
    response.writeHead(400).end()
  }
})
server.listen(Number(port), '127.0.0.1', () => console.log('listening', server.address()))
