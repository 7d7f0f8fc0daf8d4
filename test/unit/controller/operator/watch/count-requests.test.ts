import t from 'tap'
import { type ApiRequest, countRequests, resourceOf } from '#controller/operator/watch/count-requests.ts'
import type { KubeResponse, KubeRequest } from '#shared/kube/connection.ts'

t.test('API requests: the resource of a path is its plural, whatever the namespace and name', (t) => {
  for (const [path, resource] of Object.entries({
    '/api/v1/namespaces/shots/pods': 'pods',
    '/api/v1/namespaces/pods/pods/jobs': 'pods',
    '/apis/apps/v1/namespaces/shots/deployments/web/scale': 'deployments',
    '/apis/shutterfleet.dev/v1beta1/namespaces/shots/browserpools/web/status': 'browserpools',
    '/apis/batch/v1/jobs': 'jobs',
    '/version': 'other',
  })) {
    t.equal(resourceOf(path), resource, path)
  }
  t.end()
})

t.test('API requests: each request is counted with its status, one without a response as none', async (t) => {
  const counted: ApiRequest[] = []
  let nowMs = 0
  const connection = {
    send: async ({ path }: KubeRequest): Promise<KubeResponse> => {
      nowMs += 20
      if (path.endsWith('lost')) throw new Error('reset')
      return { statusCode: 409, retryAfterSeconds: undefined, body: (async function* () {})() }
    },
  }
  const { send } = countRequests({ connection, clock: { nowMs: () => nowMs } }, (request) => counted.push(request))
  const request = { method: 'PATCH', query: {}, signal: AbortSignal.timeout(1000) } as const
  t.equal((await send({ ...request, path: '/api/v1/namespaces/a/pods/b' })).statusCode, 409)
  await t.rejects(send({ ...request, path: '/api/v1/namespaces/a/pods/lost' }), { message: 'reset' })
  t.strictSame(counted, [
    { method: 'PATCH', resource: 'pods', code: '409', ms: 20 },
    { method: 'PATCH', resource: 'pods', code: 'none', ms: 20 },
  ])
})
