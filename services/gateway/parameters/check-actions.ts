import { totalDelayMs, requestedWaitMs, requestedWaitMsMax } from '#shared/capture/budget.ts'
import { type CaptureParameters, withDefaults } from '#shared/capture/options.ts'
import type { Report } from '#shared/capture/validation-errors.ts'

type Action = NonNullable<CaptureParameters['actions']>[number]
type Field = Exclude<keyof Action, 'type'>

/** The fields of each type: those that it needs, each one of its list, and those that it may have besides. */
const fieldsOf: Readonly<
  Record<Action['type'], { readonly needs: readonly Field[][]; readonly may?: readonly Field[] }>
> = {
  click: { needs: [['selector']] },
  hover: { needs: [['selector']] },
  type: { needs: [['text']], may: ['selector'] },
  press: { needs: [['key']], may: ['selector'] },
  select: { needs: [['selector'], ['value']] },
  scroll: { needs: [['selector', 'x', 'y']] },
  wait: { needs: [['selector', 'milliseconds']] },
}

const checkAction = (action: Action, report: (field: Field | undefined, problem: string) => void) => {
  const { needs, may = [] } = fieldsOf[action.type]
  for (const names of needs) {
    if (names.some((name) => action[name] !== undefined)) continue
    const [only] = names
    if (names.length === 1) report(only, `is required to ${action.type}`)
    else report(undefined, `needs one of ${names.join(', ')} to ${action.type}`)
  }
  const allowed = [...needs.flat(), ...may]
  for (const name of Object.keys(action) as (keyof Action)[]) {
    if (name !== 'type' && !allowed.includes(name)) report(name, `does not belong to ${action.type}`)
  }
}

/** Checks which fields an action has, and that all requested waits are within their bound. */
export const checkActions = (supplied: CaptureParameters, report: Report): void => {
  const { actions = [] } = supplied
  for (const [index, action] of actions.entries()) {
    checkAction(action, (field, problem) =>
      report(['actions', index, field].filter((part) => part !== undefined).join('.'), problem),
    )
  }
  const options = withDefaults(supplied)
  if (requestedWaitMs(options) <= requestedWaitMsMax) return
  const most = requestedWaitMsMax - totalDelayMs(options)
  report(
    'actions',
    `must wait at most ${most} milliseconds in total, in addition to a delay of ${totalDelayMs(options)}`,
  )
}
