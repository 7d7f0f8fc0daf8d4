import { once } from 'node:events'
import { createServer } from 'node:http'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { refusalHeader } from '#shared/net/refusal.ts'
import { checkEgress } from '#shared/net/check-egress.ts'

const listeningProxy = async (answer: string, shown: (string | undefined)[] = []) => {
  const folder = await mkdtemp(join(tmpdir(), 'check-'))
  const server = createServer()
  server.on('connect', ({ headers }, socket) => {
    shown.push(headers['proxy-authorization'])
    socket.end(`${answer}\r\n\r\n`)
  })
  server.listen(join(folder, 'socket'))
  await once(server, 'listening')
  t.teardown(async () => {
    server.close()
    await rm(folder, { recursive: true, force: true })
  })
  return { socketPath: join(folder, 'socket') }
}

t.test('check egress: accepts a filter that refuses the metadata address', async () => {
  await checkEgress(await listeningProxy(`HTTP/1.1 403 Forbidden\r\n${refusalHeader}: blocked`))
})

t.test('check egress: rejects a proxy that allows the metadata address, or fails for another reason', async (t) => {
  await t.rejects(checkEgress(await listeningProxy('HTTP/1.1 200 OK')), { message: /not our filter/ })
  const down = `HTTP/1.1 502 Bad Gateway\r\n${refusalHeader}: connection_failed`
  await t.rejects(checkEgress(await listeningProxy(down)), { message: /not our filter/ })
})

t.test('check egress: rejects an unreachable egress', async (t) => {
  await t.rejects(checkEgress({ socketPath: '/nonexistent/socket' }), {
    code: 'SERVICE_UNAVAILABLE',
    message: /is unreachable/,
  })
})

t.test('check egress: sends the token, and no header without one', async (t) => {
  const shown: (string | undefined)[] = []
  const egress = await listeningProxy(`HTTP/1.1 403 Forbidden\r\n${refusalHeader}: blocked`, shown)
  await checkEgress(egress, 'a-token')
  await checkEgress(egress)
  t.same(shown, ['Bearer a-token', undefined])
})

t.test('check egress: a rejected token is reported with the names of both settings', async (t) => {
  const answer = `HTTP/1.1 407 Proxy Authentication Required\r\n${refusalHeader}: unavailable`
  await t.rejects(checkEgress(await listeningProxy(answer), 'a-token'), {
    code: 'SERVICE_UNAVAILABLE',
    message: /SHUTTERFLEET_EGRESS_TOKEN must be one of egress's SHUTTERFLEET_EGRESS_TOKENS/,
  })
})
