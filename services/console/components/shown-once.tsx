import { texts } from '#console/text/texts.ts'
import { CopyField } from './copy-field.tsx'
import { Dialog } from './dialog.tsx'

/** A secret that is shown this once. */
export const ShownOnce = (props: {
  title: string
  text: string
  label: string
  secret: string
  onClose: () => void
}) => {
  const { title, text, label, secret, onClose } = props
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <CopyField label={label} text={secret} />
      <div class="row end">
        <button type="button" class="button primary" onClick={onClose}>
          {texts.common.done}
        </button>
      </div>
    </Dialog>
  )
}
