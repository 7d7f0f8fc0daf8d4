import t from 'tap'
import { type Node, sandboxProblems } from '#cli/cluster-doctor/nodes.ts'

const nodeOf = (nodeInfo: object, userNamespaces?: boolean): Node => ({
  metadata: { name: 'node' },
  status: {
    nodeInfo,
    ...(userNamespaces !== undefined && { runtimeHandlers: [{ name: '', features: { userNamespaces } }] }),
  },
})
const fresh = {
  kubeletVersion: 'v1.33.0',
  kernelVersion: '6.3.0-generic',
  containerRuntimeVersion: 'containerd://2.0.1',
}

t.test('nodes: a recent node has no fault, nor one without versions', async (t) => {
  t.strictSame(sandboxProblems(nodeOf(fresh, true)), [])
  t.strictSame(sandboxProblems(nodeOf({ ...fresh, containerRuntimeVersion: 'cri-o://1.30.2' })), [])
  t.strictSame(sandboxProblems({ metadata: { name: 'silent' } }), [])
})

t.test('nodes: names every part that is too old, and the required version', async (t) => {
  const old = { kubeletVersion: 'v1.32.9', kernelVersion: '5.15.0', containerRuntimeVersion: 'containerd://1.7.27' }
  t.strictSame(sandboxProblems(nodeOf(old)), [
    'kubelet 1.32, 1.33 is needed',
    'Linux 5.15, 6.3 is needed',
    'containerd 1.7, 2.0 is needed',
  ])
  t.strictSame(sandboxProblems(nodeOf(fresh, false)), ['its runtime has no user namespaces'])
})
