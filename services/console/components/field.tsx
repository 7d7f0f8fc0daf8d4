import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

/** Attributes that tie a control to its label and help. */
type ControlIds = { readonly id: string; readonly 'aria-describedby'?: string; readonly 'aria-invalid'?: true }

/** A labelled control with help and an error below. */
export const Field = (props: {
  label: string
  help?: ComponentChildren
  error?: string | undefined
  children: (ids: ControlIds) => ComponentChildren
}) => {
  const { label, help, error, children } = props
  const id = useId()
  const describedBy = [help !== undefined && `${id}-help`, error !== undefined && `${id}-error`]
    .filter(Boolean)
    .join(' ')
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(describedBy !== '' && { 'aria-describedby': describedBy }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {help !== undefined && (
        <p class="help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {error !== undefined && (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
    </div>
  )
}
