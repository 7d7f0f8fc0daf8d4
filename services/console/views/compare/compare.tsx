import type { Screenshot } from '#client/responses.js'
import { useQuery } from '@tanstack/preact-query'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Link, useParams } from 'wouter-preact'
import { imagePath } from '#console/api/records.ts'
import { captureName } from '#console/components/capture-table.tsx'
import { ErrorNotice, Loaded, Notice } from '#console/components/state.tsx'
import { Page, Section } from '#console/components/page.tsx'
import { Time } from '#console/components/time.tsx'
import { texts } from '#console/text/texts.ts'
import { comparedPixels, drawDifference } from './draw-difference.ts'

const readPicture = async (id: string): Promise<ImageBitmap> => {
  const response = await fetch(imagePath(id), { credentials: 'same-origin' })
  if (!response.ok) throw new Error(texts.compare.noPicture)
  return await createImageBitmap(await response.blob())
}

const Difference = ({ ids }: { ids: readonly [string, string] }) => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [share, setShare] = useState<number>()
  const [error, setError] = useState<Error>()
  useEffect(() => {
    let isShown = true
    const draw = async () => {
      const pictures = await Promise.all([readPicture(ids[0]), readPicture(ids[1])])
      if (isShown && canvas.current) setShare(drawDifference(canvas.current, pictures))
      for (const each of pictures) each.close()
    }
    draw().catch((caught: unknown) => isShown && setError(caught as Error))
    return () => {
      isShown = false
    }
  }, [ids[0], ids[1]])
  if (error) return <ErrorNotice error={error} />
  return (
    <Section title={texts.compare.difference}>
      <p role="status">{share === undefined ? texts.compare.comparing : texts.compare.share(share)}</p>
      {/* Scrolls, so that it needs focus. */}
      <div class="picture" tabIndex={0} role="region" aria-label={texts.compare.difference}>
        <canvas ref={canvas} role="img" aria-label={texts.compare.marked} />
      </div>
    </Section>
  )
}

const isPicture = ({ status, mime_type, width = 0, height = 0 }: Screenshot) =>
  status === 'completed' && mime_type !== 'application/pdf' && width * height <= comparedPixels

const Side = ({ label, capture }: { label: string; capture: Screenshot }) => (
  <Section title={`${label}: ${captureName(capture)}`}>
    <p class="muted">
      <Link href={`/captures/${capture.id}`}>{texts.playground.record}</Link> · <Time at={capture.created_at} /> ·{' '}
      {capture.width} × {capture.height} px
    </p>
    <div class="picture" tabIndex={0} role="region" aria-label={label}>
      <img src={imagePath(capture.id)} alt={texts.record.picture} width={capture.width} height={capture.height} />
    </div>
  </Section>
)

/** Two captures side by side, and what differs between their pictures. */
export const Compare = () => {
  const { id = '', other = '' } = useParams()
  const first = useQuery<{ data: Screenshot }>({ queryKey: [`/v1/screenshots/${encodeURIComponent(id)}`] })
  const second = useQuery<{ data: Screenshot }>({ queryKey: [`/v1/screenshots/${encodeURIComponent(other)}`] })
  return (
    <Page title={texts.compare.title}>
      <Loaded query={first} missing={texts.record.missing}>
        {({ data: before }) => (
          <Loaded query={second} missing={texts.record.missing}>
            {({ data: after }) =>
              isPicture(before) && isPicture(after) ? (
                <>
                  <div class="compare">
                    <Side label={texts.compare.first} capture={before} />
                    <Side label={texts.compare.second} capture={after} />
                  </div>
                  <Difference ids={[before.id, after.id]} />
                </>
              ) : (
                <Notice title={texts.compare.noPicture}>{texts.compare.noPictureText}</Notice>
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Page>
  )
}
