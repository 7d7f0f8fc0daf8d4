import { deleteCapture } from '#gateway/db/captures.ts'
import { orNotFound } from '#gateway/http/errors.ts'
import { emptyAnswer } from '#gateway/openapi/schema/contract.ts'
import { forCaller } from '#gateway/operations/operation.ts'

/**
 * Deletes a capture in any state. For clients it no longer exists after the response; the ledger removes its messages and
 * objects. A body is not read.
 */
export const deleteScreenshot = forCaller({
  name: 'delete',
  method: 'DELETE',
  path: '/screenshots/:id',
  scopes: ['manage'],
  tag: 'Screenshots',
  summary: 'Delete a screenshot',
  description: 'Deletes a screenshot in any state, with its image and all other data stored for it.',
  answers: { 204: emptyAnswer('Deleted. Later requests for the id return 404.') },
  run: async (context, { caller, id }) => {
    const remove = () => deleteCapture(context.database, { id, accountId: caller.accountId })
    orNotFound(await context.lockWaits.run(caller.accountId, remove))
    // The deletion may have made room in the account's window.
    context.publisher.wakeRelay()
    return { status: 204 }
  },
})
