import type { KubeApi } from '#shared/kube/client.ts'

type Untyped<F> = F extends (...request: infer Request) => infer Response ? (...request: Request) => Response : never

/** The Kubernetes API without types of objects, which is what a double can implement. */
type ObjectApi = { readonly [M in keyof KubeApi]: Untyped<KubeApi[M]> }

/** The API of a double that has all of the methods `M`. Callers get the types that they ask for, as from a real server. */
export const asKubeApi = <M extends keyof KubeApi>(double: Pick<ObjectApi, M>): Pick<KubeApi, M> =>
  double as Pick<KubeApi, M>
