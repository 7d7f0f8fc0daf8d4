import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { refusalHeader } from '#shared/net/refusal.ts'
import { checkEgress } from '#shared/net/check-egress.ts'

const listeningProxy = async (answer: string) => {
  const folder = await mkdtemp(join(tmpdir(), 'check-'))
  const server = createServer()
  server.on('connect', (_request, socket) => socket.end(`${answer}\r\n\r\n`))
  server.listen(join(folder, 'socket'))
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { socketPath: join(folder, 'socket') }
}

t.test('is content with a filter that refuses the metadata address', async () => {
  await checkEgress(await listeningProxy(`HTTP/1.1 403 Forbidden\r\n${refusalHeader}: blocked`))
})

t.test('refuses a proxy that lets it through, or fails for another reason', async (t) => {
  await t.rejects(checkEgress(await listeningProxy('HTTP/1.1 200 OK')), { message: /not our filter/ })
  const down = `HTTP/1.1 502 Bad Gateway\r\n${refusalHeader}: connection_failed`
  await t.rejects(checkEgress(await listeningProxy(down)), { message: /not our filter/ })
})

t.test('refuses a way that leads nowhere', async (t) => {
  await t.rejects(checkEgress({ socketPath: '/nonexistent/socket' }), {
    code: 'SERVICE_UNAVAILABLE',
    message: /does not answer/,
  })
})
